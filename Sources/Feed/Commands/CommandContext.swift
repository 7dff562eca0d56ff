import Synchronization

/// Where commands run: what they are told, and what they leave behind.
///
/// A value: a command that throws leaves nothing in it. What is collected is committed by the caller, once, as one ``LedgerEntry``.
public struct CommandContext: Sendable {
    /// What is the same for all commands of a performance. An object: it is shared by the attempts of one command after the other.
    private final class Circumstances: Sendable {
        let cell: String
        let subject: CommandSubject?
        let occurrence: LedgerEvent.Kind
        let client: ClientTrace
        let now: Int64
        private let name: Mutex<String?>

        init(_ name: String?, cell: String, subject: CommandSubject?, occurrence: LedgerEvent.Kind, client: ClientTrace, now: Int64) {
            self.cell = cell
            self.subject = subject
            self.occurrence = occurrence
            self.client = client
            self.now = now
            self.name = Mutex(name)
        }

        /// Made when it is first asked for: most clicks leave nothing behind that has to be found again.
        var performance: String {
            name.withLock { name in
                let made = name ?? RandomID.make()
                name = made
                return made
            }
        }
    }

    private let circumstances: Circumstances

    /// Names this performance; unique.
    public var performance: String { circumstances.performance }
    /// The cell's id.
    public var cell: String { circumstances.cell }
    /// The cell itself. Nil while undoing, when the item may be gone.
    public var subject: CommandSubject? { circumstances.subject }
    /// What is being performed, as the ledger calls it.
    public var occurrence: LedgerEvent.Kind { circumstances.occurrence }
    /// Who asked.
    public var client: ClientTrace { circumstances.client }
    /// Milliseconds since 1970-01-01 UTC.
    public var now: Int64 { circumstances.now }

    public private(set) var events: [LedgerEvent] = []
    public private(set) var changes: [ViewerChange] = []
    public internal(set) var steps: [StepResult] = []
    /// The screen that the client is to show.
    public var presentation: Presentation?
    /// The stored URL that the client is redirected to.
    public var destination: String?
    var kept: [UInt8]?

    /// - Parameter performance: the name of the performance; one that cannot be guessed where nil.
    public init(
        performance: String? = nil, cell: String, subject: CommandSubject?, occurrence: LedgerEvent.Kind, client: ClientTrace, now: Int64
    ) {
        circumstances = Circumstances(performance, cell: cell, subject: subject, occurrence: occurrence, client: client, now: now)
    }

    /// Puts an event into the ledger. A performance records each kind once, whichever of its commands ask for it.
    public mutating func record(_ kind: LedgerEvent.Kind) {
        guard !events.contains(where: { $0.kind == kind }) else { return }
        events.append(client.event(kind, cell: cell, at: now))
    }

    /// What the command that is being performed will be given if it is undone.
    public mutating func keepForUndo(_ record: [UInt8]) {
        kept = record
    }

    /// Puts the cell on one of the viewer's lists, in a way that ``takeBack(_:from:for:)`` can take back.
    ///
    /// - Throws: ``CommandError/missing(_:command:)`` where the request has no viewer.
    public mutating func put(on list: ViewerList, for command: some UndoableCommand) throws {
        guard let viewer = client.viewer else { throw CommandError.missing(.viewer, command: command.name) }
        // The step's number keeps two commands of one performance apart that put the cell on the same list.
        let performance = "\(performance).\(steps.count)"
        changes.append(.add(list: list, viewer: viewer, cell: cell, performance: performance, at: now))
        keepForUndo(Array(performance.utf8))
    }

    /// Takes back what ``put(on:for:)`` did.
    ///
    /// - Throws: ``CommandError/missing(_:command:)`` where the request has no viewer.
    public mutating func takeBack(_ record: [UInt8], from list: ViewerList, for command: some UndoableCommand) throws {
        guard let viewer = client.viewer else { throw CommandError.missing(.viewer, command: command.name) }
        changes.append(.remove(list: list, viewer: viewer, cell: cell, performance: String(decoding: record, as: UTF8.self)))
    }
}
