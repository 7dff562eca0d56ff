public import IntertwinePrimitives

/// The environment of a running command: its inputs and its collected effects.
///
/// The context is a value: a command that throws leaves no effects in it. The caller commits the collected effects once, as one `LedgerEntry`.
public struct CommandContext: Sendable {
    /// The unique, unguessable name of this performance.
    ///
    /// The name is generated on first access. Why: most clicks have no effects that must be found again.
    public private(set) lazy var performance = Self.randomName()
    /// The cell's id.
    public let cell: String
    /// The cell, or nil during an undo, because the item may be deleted.
    public let subject: CommandSubject?
    /// The event kind of the performance in the ledger.
    public let occurrence: LedgerEvent.Kind
    package let client: ClientFingerprint
    /// The time of the request in milliseconds since 1970-01-01 UTC.
    public let now: Int64
    /// The validated input of the request by field name, as declared by ``Command/input``. Optional fields may be missing.
    public let input: [String: JSONValue]
    var recordedInput: EventInput?

    package private(set) var events: [LedgerEvent] = []
    package private(set) var changes: [ListMutation] = []
    package private(set) var steps: [StepResult] = []
    /// The screen that the client shows.
    public var presentation: Presentation?
    /// The stored URL that the client is redirected to.
    public var destination: String?
    private var undoRecord: [UInt8]?
    package var command = ""

    package init(
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

    private static func randomName() -> String {
        var generator = SystemRandomNumberGenerator()
        // One system call for all 128 bits.
        let bits: UInt128 = generator.next()
        return Base64URL.encode(withUnsafeBytes(of: bits.bigEndian) { Array($0) })
    }

    /// Adds an event for the ledger. A performance records each kind once, even if several of its commands record it.
    public mutating func record(_ kind: LedgerEvent.Kind) {
        guard !events.contains(where: { $0.kind == kind }) else { return }
        var event = client.event(kind, cell: cell, of: subject?.creative, at: now)
        event.input = recordedInput
        events.append(event)
    }

    /// Stores the data that the running command receives if it is undone.
    public mutating func recordUndo(_ record: [UInt8]) {
        undoRecord = record
    }

    /// Adds the cell to one of the viewer's lists. ``revert(_:from:)`` undoes the addition.
    ///
    /// ```swift
    /// func perform(in context: inout CommandContext) async throws {
    ///     try context.put(on: "muted")
    /// }
    /// ```
    ///
    /// - Returns: the undo record. A command that selects the list by its input must also store the name of the list with ``recordUndo(_:)``,
    ///   because an undo has no input.
    /// - Throws: An error if the request has no viewer.
    @discardableResult
    public mutating func put(on list: ViewerList) throws -> [UInt8] {
        let (viewer, performance) = try listKey()
        changes.append(.add(list: list, viewer: viewer, cell: cell, performance: performance, at: now))
        recordUndo(Array(performance.utf8))
        return Array(performance.utf8)
    }

    /// Removes the cell from one of the viewer's lists, at any time after it was added. ``revert(_:from:)`` undoes the removal.
    ///
    /// - Returns: the undo record, as for ``put(on:)``.
    /// - Throws: An error if the request has no viewer.
    @discardableResult
    public mutating func remove(from list: ViewerList) throws -> [UInt8] {
        let (viewer, performance) = try listKey()
        changes.append(.remove(list: list, viewer: viewer, cell: cell, performance: performance, at: now))
        recordUndo(Array(performance.utf8))
        return Array(performance.utf8)
    }

    /// Undoes a change by ``put(on:)`` or ``remove(from:)``.
    ///
    /// ```swift
    /// func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
    ///     try context.revert(record, from: "muted")
    /// }
    /// ```
    ///
    /// - Throws: An error if the request has no viewer.
    public mutating func revert(_ record: [UInt8], from list: ViewerList) throws {
        guard let viewer = client.viewer else { throw CommandError.missing(.viewer, command: command) }
        changes.append(.revert(list: list, viewer: viewer, cell: cell, performance: String(decoding: record, as: UTF8.self)))
    }

    mutating func putAuthor(on list: ViewerList) throws {
        try changeAuthor { .add(list: list, viewer: $0, cell: $1, performance: $2, at: $3) }
    }

    mutating func removeAuthor(from list: ViewerList) throws {
        try changeAuthor { .remove(list: list, viewer: $0, cell: $1, performance: $2, at: $3) }
    }

    private mutating func changeAuthor(_ change: (_ viewer: String, _ author: String, String, Int64) -> ListMutation) throws {
        let (viewer, performance) = try listKey()
        let author = subject?.author ?? cell
        changes.append(change(viewer, author, performance, now))
        // The item may have another author at the time of the undo.
        recordUndo(Array("\(performance) \(author)".utf8))
    }

    mutating func revertAuthor(_ record: [UInt8], from list: ViewerList) throws {
        guard let viewer = client.viewer else { throw CommandError.missing(.viewer, command: command) }
        let parts = String(decoding: record, as: UTF8.self).split(separator: " ", maxSplits: 1).map(String.init)
        guard let performance = parts.first else { return }
        changes.append(.revert(list: list, viewer: viewer, cell: parts.count == 2 ? parts[1] : cell, performance: performance))
    }

    mutating func recordSelection(by slot: CommandKey) {
        guard let viewer = client.tracedViewer, steps.contains(where: { $0.outcome == .performed }) else { return }
        switch slot {
        case .selection: changes.append(.add(list: .selected, viewer: viewer, cell: cell, performance: performance, at: now))
        case .deselection: changes.append(.remove(list: .selected, viewer: viewer, cell: cell, performance: performance, at: now))
        default: break
        }
    }

    mutating func revertSelection(_ performance: String) {
        guard let viewer = client.viewer else { return }
        changes.append(.revert(list: .selected, viewer: viewer, cell: cell, performance: performance))
    }

    private mutating func listKey() throws -> (viewer: String, performance: String) {
        guard let viewer = client.viewer else { throw CommandError.missing(.viewer, command: command) }
        return (viewer, "\(performance).\(steps.count)")
    }
}

// MARK: Performing

extension CommandContext {
    /// Performs a component of a composite and records its result. A nested composite records the results of its components.
    ///
    /// - Throws: the error of the command, after the result is recorded. If the command does its own work, its other effects are removed.
    public mutating func perform(_ command: any Command) async throws {
        let before = (events, changes, steps, presentation, destination)
        let outer = self.command
        defer { self.command = outer }
        self.command = command.name
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

    /// Records that a component was skipped because of an earlier failure.
    public mutating func skip(_ command: any Command) {
        steps += command.leaves.map { StepResult(command: $0.name, outcome: .skipped) }
    }

    package mutating func compensate(from start: Int) async {
        for index in steps.indices.reversed() where index >= start && steps[index].outcome == .performed {
            guard let undoing = steps[index].undoing, let record = steps[index].undo else { continue }
            var attempt = self
            attempt.command = undoing.name
            do {
                try await undoing.undo(record, in: &attempt)
                attempt.steps[index].outcome = .undone
                attempt.steps[index].undo = nil
                attempt.command = self.command
                self = attempt
            } catch {
                steps[index].error = error
            }
        }
    }

    mutating func recordUndone(_ command: any Command) {
        steps.append(StepResult(command: command.name, outcome: .undone))
    }
}

package struct StepResult: Sendable {
    package enum Outcome: String, Sendable, Hashable, CaseIterable {
        case performed
        case failed
        /// The command was not run because an earlier command failed.
        case skipped
        /// The command was performed and then reverted, by an undo or because a later command failed.
        case undone
        /// The command would run.
        case simulated
    }

    package var command: String
    package var outcome: Outcome
    package var undo: [UInt8]?
    /// It is written to the log and never sent to the client.
    package var error: (any Error)?
    package var undoing: (any UndoableCommand)?

    package init(command: String, outcome: Outcome, error: (any Error)? = nil) {
        self.command = command
        self.outcome = outcome
        self.error = error
    }
}
