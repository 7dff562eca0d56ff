internal import IntertwinePrimitives

/// Where commands run: what they are told, and what they leave behind.
///
/// A value: a command that throws leaves nothing in it. What is collected is committed by the caller, once, as one ``LedgerEntry``.
public struct CommandContext: Sendable {
    /// Names this performance: unique, and not to be guessed. Made when it is first asked for, as most clicks leave nothing behind that has to be
    /// found again.
    public private(set) lazy var performance = Self.randomName()
    /// The cell's id.
    public let cell: String
    /// The cell itself. Nil while undoing, when the item may be gone.
    public let subject: CommandSubject?
    /// What is being performed, as the ledger calls it.
    public let occurrence: LedgerEvent.Kind
    /// Who asked.
    public let client: ClientFingerprint
    /// Milliseconds since 1970-01-01 UTC.
    public let now: Int64
    /// What came with the request, by name: the values that ``Command/input`` declares, checked. Those that are missing were not required.
    public let input: [String: JSONValue]
    /// The same for the ledger: it stands with each event of the performance.
    var recordedInput: EventInput?

    public private(set) var events: [LedgerEvent] = []
    public private(set) var changes: [ListMutation] = []
    public private(set) var steps: [StepResult] = []
    /// The screen that the client is to show.
    public var presentation: Presentation?
    /// The stored URL that the client is redirected to.
    public var destination: String?
    private var undoRecord: [UInt8]?

    /// - Parameter performance: the name of the performance; one that cannot be guessed where nil.
    public init(
        performance: String? = nil, cell: String, subject: CommandSubject?, occurrence: LedgerEvent.Kind, client: ClientFingerprint,
        now: Int64,
        input: [String: JSONValue] = [:]
    ) {
        self.cell = cell
        self.subject = subject
        self.occurrence = occurrence
        self.client = client
        self.now = now
        self.input = input
        if let performance { self.performance = performance }
    }

    /// 128 random bits in base64url.
    private static func randomName() -> String {
        var generator = SystemRandomNumberGenerator()
        // Asks the system once.
        let bits: UInt128 = generator.next()
        return Base64URL.encode(withUnsafeBytes(of: bits.bigEndian) { Array($0) })
    }

    /// Puts an event into the ledger. A performance records each kind once, whichever of its commands ask for it.
    public mutating func record(_ kind: LedgerEvent.Kind) {
        guard !events.contains(where: { $0.kind == kind }) else { return }
        var event = client.event(kind, cell: cell, at: now)
        event.creative = subject?.creative
        event.input = recordedInput
        events.append(event)
    }

    /// What the command that is being performed will be given if it is undone.
    public mutating func recordUndo(_ record: [UInt8]) {
        undoRecord = record
    }

    /// Puts the cell on one of the viewer's lists, in a way that ``takeBack(_:from:for:)`` can take back.
    ///
    /// - Returns: what is kept for that. A command that chooses the list by its input keeps the list's name besides, with ``keepForUndo(_:)``: there
    ///   is no input when it is undone.
    /// - Throws: ``CommandError/missing(_:command:)`` where the request has no viewer.
    @discardableResult
    public mutating func put(on list: ViewerList, for command: some UndoableCommand) throws -> [UInt8] {
        let (viewer, performance) = try listKey(for: command)
        changes.append(.add(list: list, viewer: viewer, cell: cell, performance: performance, at: now))
        recordUndo(Array(performance.utf8))
        return Array(performance.utf8)
    }

    /// Takes the cell off one of the viewer's lists, however long ago it was put there, in a way that ``takeBack(_:from:for:)`` can take back.
    ///
    /// - Returns: as ``put(on:for:)``.
    /// - Throws: ``CommandError/missing(_:command:)`` where the request has no viewer.
    @discardableResult
    public mutating func remove(from list: ViewerList, for command: some UndoableCommand) throws -> [UInt8] {
        let (viewer, performance) = try listKey(for: command)
        changes.append(.remove(list: list, viewer: viewer, cell: cell, performance: performance, at: now))
        recordUndo(Array(performance.utf8))
        return Array(performance.utf8)
    }

    /// Takes back what ``put(on:for:)`` or ``remove(from:for:)`` did.
    ///
    /// - Throws: ``CommandError/missing(_:command:)`` where the request has no viewer.
    public mutating func revert(_ record: [UInt8], from list: ViewerList, for command: some UndoableCommand) throws {
        guard let viewer = client.viewer else { throw CommandError.missing(.viewer, command: command.name) }
        changes.append(.revert(list: list, viewer: viewer, cell: cell, performance: String(decoding: record, as: UTF8.self)))
    }

    /// Notes that the viewer has selected the cell, or no longer has, where that is what was performed. Of whoever wants to leave no trace,
    /// nothing is noted.
    mutating func recordSelection(by slot: CommandKey) {
        guard let viewer = client.tracedViewer, steps.contains(where: { $0.outcome == .performed }) else { return }
        switch slot {
        case .selection: changes.append(.add(list: .selected, viewer: viewer, cell: cell, performance: performance, at: now))
        case .deselection: changes.append(.remove(list: .selected, viewer: viewer, cell: cell, performance: performance, at: now))
        default: break
        }
    }

    /// Takes back what ``noteSelection(by:)`` noted of a performance, if anything.
    mutating func revertSelection(_ performance: String) {
        guard let viewer = client.viewer else { return }
        changes.append(.revert(list: .selected, viewer: viewer, cell: cell, performance: performance))
    }

    /// The step's number keeps two commands of one performance apart that change the same list.
    private mutating func listKey(for command: some UndoableCommand) throws -> (viewer: String, performance: String) {
        guard let viewer = client.viewer else { throw CommandError.missing(.viewer, command: command.name) }
        return (viewer, "\(performance).\(steps.count)")
    }
}

// MARK: Performing

extension CommandContext {
    /// Performs a component of a composite, and notes what became of it. What a composite notes is what became of its components.
    ///
    /// - Throws: what the command throws, after it was noted; where it does its own work, the context is then as before, but for the note.
    public mutating func perform(_ command: any Command) async throws {
        let before = (events, changes, steps, presentation, destination)
        undoRecord = nil
        do {
            try await command.perform(in: &self)
        } catch {
            guard command.components == nil else { throw error }
            (events, changes, steps, presentation, destination) = before
            steps.append(StepResult(command: command.name, outcome: .failed, error: error))
            throw error
        }
        guard command.components == nil else { return }
        var result = StepResult(command: command.name, outcome: .performed)
        if let undoing = command.undoing { (result.undoing, result.undo) = (undoing, undoRecord ?? []) }
        undoRecord = nil
        steps.append(result)
    }

    /// Notes a component that an earlier failure kept from running.
    public mutating func skip(_ command: any Command) {
        steps += command.leaves.map { StepResult(command: $0.name, outcome: .skipped) }
    }

    /// Takes back, in reverse, the steps that were performed since a point, the count of ``steps`` at that time. One that cannot be
    /// taken back stays performed.
    public mutating func compensate(from start: Int) async {
        for index in steps.indices.reversed() where index >= start && steps[index].outcome == .performed {
            guard let undoing = steps[index].undoing, let record = steps[index].undo else { continue }
            var attempt = self
            do {
                try await undoing.undo(record, in: &attempt)
                attempt.steps[index].outcome = .undone
                attempt.steps[index].undo = nil
                self = attempt
            } catch {
                steps[index].error = error
            }
        }
    }

    /// Notes a command of a selection that has been taken back.
    mutating func recordUndone(_ command: any Command) {
        steps.append(StepResult(command: command.name, outcome: .undone))
    }
}
