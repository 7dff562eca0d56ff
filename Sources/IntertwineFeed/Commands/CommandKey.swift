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
    var syntaxError: String? {
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
