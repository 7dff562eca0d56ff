/// The commands of a cell by their slots, in the order in which the cell tells them: the standard ones first, then its own by name.
public struct CellCommands: Sendable, ExpressibleByDictionaryLiteral {
    /// What the cells of a kind share: one reference in each.
    private final class Shared: Sendable {
        let slots: Slots

        init(_ slots: Slots) { self.slots = slots }
    }

    fileprivate struct Slots: Sendable {
        var entries: [(key: CommandKey, command: any Command)] = []
        /// What clients are told of each, where that is prepared.
        var requests: [PreparedRequest?] = []
        /// What those are cut out of.
        var text: [UInt8] = []
        var reported: [CommandKey] = []
        var labels: [CommandKey: LocalizedText] = [:]
        /// What is written around the cells; nil where it is not known from the kind alone.
        var frames: CellTemplate.TemplateTable?
    }

    private static let none = Shared(Slots())

    /// The one that fills the cell, and stands before all others. For itself, as it alone differs from cell to cell.
    private var configuration: (any Command)?
    private var shared = Self.none

    public init() {}

    public init(dictionaryLiteral elements: (CommandKey, any Command)...) {
        for (key, command) in elements { self[key] = command }
    }

    /// The slots that hold a command.
    public var keys: [CommandKey] { (configuration == nil ? [] : [.configuration]) + shared.slots.entries.map(\.key) }

    /// Besides the impression: slots that are not performed at an address of their own, but reported with the cell's token.
    var reported: [CommandKey] {
        get { shared.slots.reported }
        set { change { $0.reported = newValue } }
    }

    /// What people are told that slots do.
    var labels: [CommandKey: LocalizedText] {
        get { shared.slots.labels }
        set { change { $0.labels = newValue } }
    }

    /// The slots besides the configuration.
    var indices: Range<Int> { shared.slots.entries.indices }

    func slot(at index: Int) -> (key: CommandKey, command: any Command) { shared.slots.entries[index] }

    /// What clients are told of a slot, cut out of ``preparedText``; nil where its command has to be asked.
    func request(at index: Int) -> PreparedRequest? { shared.slots.requests[index] }

    var preparedText: [UInt8] { shared.slots.text }

    /// What is written around the cells that have these commands; nil where it differs from cell to cell.
    var frames: CellTemplate.TemplateTable? { shared.slots.frames }

    /// Has what is written around cells made once for all of them, as far as all of it is prepared. It lasts until something is changed.
    mutating func prepareFrames() {
        guard shared.slots.requests.allSatisfy({ $0 != nil }) else { return }
        var slots = shared.slots
        slots.frames = CellTemplate.TemplateTable()
        shared = Shared(slots)
    }

    public subscript(key: CommandKey) -> (any Command)? {
        get {
            if key == .configuration { return configuration }
            // A handful: looking through them is faster than hashing. Where they lie, as a command that is passed by would be copied.
            return shared.slots.entries.withUnsafeBufferPointer { slots in
                for index in slots.indices where slots[index].key == key { return slots[index].command }
                return nil
            }
        }
        set {
            if key == .configuration { configuration = newValue } else { change { $0.put(newValue, at: key) } }
        }
    }

    /// Has clients told something that was prepared, as long as the slot's command stays the same.
    mutating func prepare(_ key: CommandKey, _ commands: [any Command], face: RequestCommand) {
        change { slots in
            guard let index = slots.entries.firstIndex(where: { $0.key == key }) else { return }
            slots.requests[index] = PreparedRequest(key, commands, face: face, appendedTo: &slots.text)
        }
    }

    private mutating func change(_ body: (inout Slots) -> Void) {
        var slots = shared.slots
        slots.frames = nil
        body(&slots)
        shared = Shared(slots)
    }
}

extension CellCommands.Slots {
    fileprivate mutating func put(_ command: (any Command)?, at key: CommandKey) {
        if let index = entries.firstIndex(where: { $0.key == key }) {
            entries.remove(at: index)
            requests.remove(at: index)
        }
        guard let command else { return }
        let index = entries.firstIndex { Self.precedes(key, $0.key) } ?? entries.count
        entries.insert((key, command), at: index)
        requests.insert(nil, at: index)
    }

    private static func precedes(_ one: CommandKey, _ other: CommandKey) -> Bool {
        let count = CommandKey.standard.count
        let (first, second) = (CommandKey.standard.firstIndex(of: one) ?? count, CommandKey.standard.firstIndex(of: other) ?? count)
        return first == second ? one.rawValue < other.rawValue : first < second
    }
}
