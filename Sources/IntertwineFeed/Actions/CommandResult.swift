package struct CommandResult: Sendable {
    package var invocation: String?
    package var slot: CommandKey?
    package var cell: String
    package var steps: [StepResult]
    package var presentation: Presentation?
    package var destination: String?
    /// The URL of the undo request and its expiry in milliseconds since 1970-01-01 UTC.
    package var undo: (href: String, expires: Int64)?
    package private(set) var verdicts: [Verdict] = []
    package private(set) var verdict: Verdict?
    private var responseFields = 0
    var record: CommandRecord?

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
