/// What performing an action came to, or would come to.
package struct CommandResult: Sendable {
    /// The selection's id; nil where the performance was only simulated.
    package var selection: String?
    package var cell: String
    /// One for each command, in order.
    package var steps: [StepResult]
    /// The screen that the client is to show.
    package var presentation: Presentation?
    /// The stored URL that the client is redirected to.
    package var destination: String?
    /// Where it is taken back, and until when, in milliseconds since 1970-01-01 UTC. Nil where one of the performed commands cannot be undone,
    /// none was performed, or there is no time for it.
    package var undo: (href: String, expires: Int64)?
    /// What the ledger decided about each event; empty until it is committed.
    package private(set) var verdicts: [Verdict] = []
    /// That of the click where there is one, else of the first event; nil until it is committed, and where nothing was recorded.
    package private(set) var verdict: Verdict?
    /// Which of the events tells the ``verdict``.
    private var responseFields = 0
    /// What is remembered of it; nil where nothing was performed.
    var record: CommandRecord?

    /// Whether no command failed.
    package var isComplete: Bool { steps.allSatisfy { $0.outcome == .performed || $0.outcome == .simulated } }

    init(of context: CommandContext, links: Links, undoWindow: Int64) {
        var context = context
        let name = context.performance
        selection = name
        cell = context.cell
        steps = context.steps
        presentation = context.presentation
        destination = context.destination
        responseFields = context.events.firstIndex { $0.kind == .click } ?? 0
        let (end, overflow) = context.now.addingReportingOverflow(max(0, undoWindow))
        let expires = overflow ? .max : end
        let performed = steps.filter { $0.outcome == .performed }
        // An untraced viewer is remembered only where the viewer's own lists were changed.
        let viewer = context.changes.isEmpty ? context.client.tracedViewer : context.client.viewer
        guard !performed.isEmpty else { return }
        record = CommandRecord(
            id: name, cell: context.cell, viewer: viewer,
            steps: performed.map { CommandRecord.Step(command: $0.command, undo: $0.undo) }, expires: expires)
        if undoWindow > 0, performed.allSatisfy({ $0.undo != nil }) {
            undo = (links.selection(name), expires)
        }
    }

    init(simulating commands: [any Command], of cell: String) {
        self.cell = cell
        steps = commands.map { StepResult(command: $0.name, outcome: .simulated) }
    }

    func applying(_ verdicts: [Verdict]) -> CommandResult {
        var performance = self
        performance.verdicts = verdicts
        performance.verdict = verdicts.indices.contains(responseFields) ? verdicts[responseFields] : nil
        return performance
    }
}

/// What became of one command of a performance.
public struct StepResult: Sendable {
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        case performed
        case failed
        /// Not run, because an earlier one had failed.
        case skipped
        /// Done, and taken back because a later one failed, or by an undo.
        case undone
        /// What would run, where the request asked only that.
        case simulated
    }

    public var command: String
    public var outcome: Outcome
    /// Where it was performed and can be undone, what it kept for that.
    public var undo: [UInt8]?
    /// Why it failed, or could not be taken back. For the log, never for the client.
    public var error: (any Error)?
    /// Takes it back, within the same performance.
    var undoing: (any UndoableCommand)?

    init(command: String, outcome: Outcome, error: (any Error)? = nil) {
        self.command = command
        self.outcome = outcome
        self.error = error
    }
}
