/// A slot of a cell that a command can stand in. A missing slot is legal and means that there is nothing to do.
///
/// Kinds and programs may add slots of their own, such as `like` or `longPress`: they are performed at `POST /cells/{id}/{slot}`.
public struct CommandKey: RawRepresentable, Sendable, Hashable {
    /// Fills the cell with its content. The client performs it.
    public static let configuration = CommandKey("configuration")
    /// Stops what filling the cell began, such as requests for pictures. The client asks for it.
    public static let cancellation = CommandKey("cancellation")
    public static let selection = CommandKey("selection")
    public static let deselection = CommandKey("deselection")
    /// Hides the cell from one viewer's feed.
    public static let dismissal = CommandKey("dismissal")
    /// The cell was seen: at least half of its pixels for one second.
    public static let impression = CommandKey("impression")

    /// How far an advertisement was played, in the words of those who sell them (VAST): reported as impressions are.
    public static let playback = ["start", "firstQuartile", "midpoint", "thirdQuartile", "complete", "mute", "skip"].map { CommandKey($0) }

    /// The slots that every client knows, in the order in which cells tell them.
    public static let standard: [CommandKey] = [.configuration, .cancellation, .selection, .deselection, .dismissal, .impression]

    public let rawValue: String

    /// - Parameter rawValue: a letter followed by letters, digits, `_` or `-`, 64 at most; checked where the slot gets its commands.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(_ name: String) {
        self.init(rawValue: name)
    }

    /// Whether it is none of ``standard``.
    public var isOwn: Bool { !Self.standard.contains(self) }

    /// Whether clients perform it by a request of its own.
    public var isPerformed: Bool { self == .selection || self == .dismissal || isOwn }

    /// Whether it is something that people do, and can be told of.
    package var isLabelled: Bool { isPerformed && !Self.playback.contains(self) || self == .deselection }

    /// Why it cannot be a slot; nil where it can.
    var fault: String? {
        guard isOwn else { return nil }
        guard KindCompiler.isName(rawValue) else { return "must be a letter followed by letters, digits, _ or -, 64 at most" }
        // The ledger knows the performances of a slot by its name.
        guard LedgerEvent.Kind.allCases.contains(occurrence) else { return nil }
        return "is what the ledger calls something else"
    }

    /// What the ledger calls the performance of the slot.
    var occurrence: LedgerEvent.Kind {
        switch self {
        case .impression: .impression
        case .deselection: .deselection
        case .dismissal: .dismissal
        // The client performs the first two by itself; where a command of theirs is run on the server, it is because of a selection.
        case .configuration, .cancellation, .selection: .selection
        default: LedgerEvent.Kind(rawValue: rawValue)
        }
    }
}

/// The commands of a cell by their slots, in the order in which the cell tells them: the standard ones first, then its own by name.
public struct CellCommands: Sendable, ExpressibleByDictionaryLiteral {
    /// The one that fills the cell, and stands before all others. For itself, as it alone differs from cell to cell: those of a kind share the
    /// rest.
    private var configuration: (any Command)?
    private var slots: [(key: CommandKey, command: any Command, request: PreparedRequest?)] = []
    /// Besides the impression: slots that are not performed at an address of their own, but reported with the cell's token.
    var reported: [CommandKey] = []
    /// What people are told that slots do.
    var labels: [CommandKey: LocalizedText] = [:]

    public init() {}

    public init(dictionaryLiteral elements: (CommandKey, any Command)...) {
        for (key, command) in elements { self[key] = command }
    }

    /// The slots that hold a command.
    public var keys: [CommandKey] {
        var keys: [CommandKey] = []
        forEach { key, _, _ in keys.append(key) }
        return keys
    }

    /// Calls with each slot that holds a command, in order, and with what its clients are told where that is prepared.
    func forEach(_ body: (CommandKey, any Command, PreparedRequest?) -> Void) {
        if let configuration { body(.configuration, configuration, nil) }
        // Where they lie: a command that is taken out of an array is copied.
        slots.withUnsafeBufferPointer { slots in
            for index in slots.indices { body(slots[index].key, slots[index].command, slots[index].request) }
        }
    }

    public subscript(key: CommandKey) -> (any Command)? {
        get {
            if key == .configuration { return configuration }
            // A handful: looking through them is faster than hashing. Where they lie, as a command that is passed by would be copied.
            return slots.withUnsafeBufferPointer { slots in
                for index in slots.indices where slots[index].key == key { return slots[index].command }
                return nil
            }
        }
        set {
            if key == .configuration {
                configuration = newValue
                return
            }
            let index = slots.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let command?): (slots[index].command, slots[index].request) = (command, nil)
            case (let index?, nil): slots.remove(at: index)
            case (nil, let command?):
                slots.insert((key, command, nil), at: slots.firstIndex { Self.precedes(key, $0.key) } ?? slots.count)
            case (nil, nil): break
            }
        }
    }

    /// Has clients told something that was prepared, as long as the slot's command stays the same.
    mutating func prepare(_ key: CommandKey, _ request: PreparedRequest?) {
        if let index = slots.firstIndex(where: { $0.key == key }) { slots[index].request = request }
    }

    private static func precedes(_ one: CommandKey, _ other: CommandKey) -> Bool {
        let count = CommandKey.standard.count
        let (first, second) = (CommandKey.standard.firstIndex(of: one) ?? count, CommandKey.standard.firstIndex(of: other) ?? count)
        return first == second ? one.rawValue < other.rawValue : first < second
    }
}
