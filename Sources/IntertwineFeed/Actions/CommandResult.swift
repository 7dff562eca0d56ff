/// The result of a performed or simulated action.
package struct CommandResult: Sendable {
    /// The id of the invocation, or nil if the performance was only simulated.
    package var invocation: String?
    /// The slot that was performed, or nil if a command of a list was performed.
    package var slot: CommandKey?
    package var cell: String
    /// The results of the commands, in order.
    package var steps: [StepResult]
    /// The screen that the client shows.
    package var presentation: Presentation?
    /// The stored URL that the client opens.
    package var destination: String?
    /// The URL of the undo request and its expiry in milliseconds since 1970-01-01 UTC.
    ///
    /// It is nil if a performed command cannot be undone, no command was performed, or the undo window is empty.
    package var undo: (href: String, expires: Int64)?
    /// The verdicts of the ledger, one for each event. The array is empty before the commit.
    package private(set) var verdicts: [Verdict] = []
    /// The verdict of the click, or of the first event if there is no click. It is nil before the commit and without events.
    package private(set) var verdict: Verdict?
    /// The index of the event that ``verdict`` belongs to.
    private var responseFields = 0
    /// The record that the ledger stores for an undo, or nil if no command was performed.
    var record: CommandRecord?

    /// True if no command failed.
    package var isComplete: Bool { steps.allSatisfy { $0.outcome == .performed || $0.outcome == .simulated } }

    init(of context: CommandContext, slot: CommandKey?, links: Links, undoWindow: Int64) {
        var context = context
        let name = context.performance
        invocation = name
        self.slot = slot
        cell = context.cell
        steps = context.steps
        presentation = context.presentation
        destination = context.destination
        responseFields = context.events.firstIndex { $0.kind == .click } ?? 0
        let (end, overflow) = context.now.addingReportingOverflow(max(0, undoWindow))
        let expires = overflow ? .max : end
        let performed = steps.filter { $0.outcome == .performed }
        // The viewer of an untracked client is stored only if the viewer's own lists were changed.
        let viewer = context.changes.isEmpty ? context.client.tracedViewer : context.client.viewer
        guard !performed.isEmpty else { return }
        record = CommandRecord(
            id: name, cell: context.cell, viewer: viewer,
            steps: performed.map { CommandRecord.Step(command: $0.command, undo: $0.undo) }, expires: expires)
        if undoWindow > 0, performed.allSatisfy({ $0.undo != nil }) {
            undo = (links.invocation(name), expires)
        }
    }

    init(simulating commands: [any Command], of cell: String, slot: CommandKey?) {
        self.cell = cell
        self.slot = slot
        steps = commands.map { StepResult(command: $0.name, outcome: .simulated) }
    }

    func applying(_ verdicts: [Verdict]) -> CommandResult {
        var performance = self
        performance.verdicts = verdicts
        performance.verdict = verdicts.indices.contains(responseFields) ? verdicts[responseFields] : nil
        return performance
    }
}
