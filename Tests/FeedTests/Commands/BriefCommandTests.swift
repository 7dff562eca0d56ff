import Testing

@testable import Feed

@Suite("Commands that do not suspend")
struct BriefCommandTests {
    /// Fails after having put something into the context.
    private struct Failing: BriefCommand {
        let name = "f"

        func perform(in context: inout CommandContext) throws {
            context.record(.dismissal)
            context.destination = "never"
            throw TestFailure()
        }
    }

    private static func context(viewer: String?) -> CommandContext {
        CommandContext(performance: "p", cell: "user:u", subject: nil, occurrence: .selection, client: ClientTrace(viewer: viewer), now: 1)
    }

    @Test("are performed as all are", arguments: [FailurePolicy.stop, .continue], ["ann", nil])
    func alike(policy: FailurePolicy, viewer: String?) async throws {
        let macro = MacroCommand([AnalyticsCommand(), SaveCommand(), Failing(), DismissCommand()], policy: policy)
        try #require(macro.isBrief)
        var (brief, long) = (Self.context(viewer: viewer), Self.context(viewer: viewer))
        var isFailed = false
        do { try macro.performBriefly(in: &brief) } catch { isFailed = true }
        #expect(isFailed == (policy == .stop))
        try? await macro.perform(in: &long)
        #expect(brief.steps.map(\.outcome) == long.steps.map(\.outcome))
        #expect(brief.steps.map(\.undo) == long.steps.map(\.undo))
        #expect(brief.events == long.events && brief.changes == long.changes)
        #expect(brief.destination == nil && !brief.events.contains { $0.kind == .dismissal && policy == .stop })
        let saved: StepResult.Outcome = viewer == nil ? .failed : .performed
        let last: StepResult.Outcome = policy == .stop ? .skipped : saved
        let failed: StepResult.Outcome = viewer == nil && policy == .stop ? .skipped : .failed
        #expect(brief.steps.map(\.outcome) == [.performed, saved, failed, last])
    }

    @Test("are run at once only where all of a macro are, and nothing has to be taken back")
    func whereBrief() {
        #expect(!MacroCommand([AnalyticsCommand(), FailingCommand(name: "f")]).isBrief)
        #expect(!MacroCommand([AnalyticsCommand(), MacroCommand([SaveCommand()])]).isBrief)
        #expect(!MacroCommand([AnalyticsCommand()], policy: .compensate).isBrief)
    }

    @Test("a performance has one name, made when it is asked for, and another performance has another")
    func names() {
        let (one, other) = (
            CommandContext(cell: "c", subject: nil, occurrence: .click, client: ClientTrace(), now: 1),
            CommandContext(cell: "c", subject: nil, occurrence: .click, client: ClientTrace(), now: 1)
        )
        let copy = one
        #expect(one.performance == copy.performance && one.performance.count == 22)
        #expect(one.performance != other.performance)
    }
}
