/// A slot of a cell that can hold a command. A missing slot is valid and means that there is no action.
///
/// Kinds and programs may add custom slots, such as `like` or `longPress`. Custom slots are performed at `POST /cells/{id}/{slot}`.
///
/// ```swift
/// let longPress = CommandKey("longPress")
/// let action = viewModel.action(in: longPress)
/// ```
public struct CommandKey: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
    /// The slot that fills the cell with its content. The client performs it.
    public static let configuration = CommandKey("configuration")
    /// The slot that cancels work started by filling the cell, such as image requests. The client requests it.
    public static let cancellation = CommandKey("cancellation")
    /// The slot for a selection of the cell, such as a tap. The service performs it.
    public static let selection = CommandKey("selection")
    /// The slot for the end of a selection. Clients request it as `DELETE /cells/{id}/selection`.
    public static let deselection = CommandKey("deselection")
    /// The slot that hides the cell from the feed of one viewer.
    public static let dismissal = CommandKey("dismissal")
    /// The slot for a viewable impression: at least half of the pixels were visible for one second.
    public static let impression = CommandKey("impression")

    /// The playback events of an ad, with their VAST names. Clients report them like impressions.
    public static let playback = LedgerEvent.Kind.playback.map { CommandKey($0.rawValue) }

    /// The slots that every client supports, in the order of the JSON output.
    public static let standard: [CommandKey] = [.configuration, .cancellation, .selection, .deselection, .dismissal, .impression]

    /// The name of the slot, in JSON, in configuration and in URLs.
    public let rawValue: String

    /// Creates the slot with a name.
    ///
    /// - Parameter rawValue: A letter followed by letters, digits, `_` or `-`, at most 64 characters. The name is validated when commands
    ///   are assigned to the slot.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates the slot with a name, such as `like`. The syntax is that of ``init(rawValue:)``.
    public init(_ name: String) {
        self.init(rawValue: name)
    }

    /// Creates the slot with the name of a string literal. The syntax is that of ``init(rawValue:)``.
    public init(stringLiteral name: String) {
        self.init(rawValue: name)
    }

    /// True if the slot is not in ``standard``.
    public var isOwn: Bool { !Self.standard.contains(self) }

    /// True if clients perform the slot by a request of its own.
    public var isPerformed: Bool { self == .selection || self == .dismissal || isOwn }

    package var isLabelled: Bool { isPerformed && !Self.playback.contains(self) || self == .deselection }

    var syntaxError: String? {
        guard isOwn else { return nil }
        guard FieldDeclaration.isName(rawValue) else { return "must be a letter followed by letters, digits, _ or -, 64 at most" }
        // The ledger uses the name of the slot as the event kind of its performances.
        guard LedgerEvent.Kind.allCases.contains(occurrence) else { return nil }
        return "is a reserved event kind of the ledger"
    }

    package var occurrence: LedgerEvent.Kind {
        switch self {
        case .impression: .impression
        case .deselection: .deselection
        case .dismissal: .dismissal
        // The client performs configuration and cancellation itself. The server runs their commands only as part of a selection.
        case .configuration, .cancellation, .selection: .selection
        default: LedgerEvent.Kind(rawValue: rawValue)
        }
    }
}
