import Testing

@testable import IntertwineFeed

@Suite("Macro commands")
struct MacroCommandTests {
    let effects = Effects()

    func remote(_ name: String, undoFails: Bool = false) -> RemoteCommand {
        RemoteCommand(name: name, effects: effects, undoFails: undoFails)
    }

    func run(_ macro: MacroCommand, viewer: String? = "ann") async -> CommandContext {
        var context = CommandContext(
            performance: "p", cell: "user:u", subject: nil, occurrence: .selection, client: ClientFingerprint(viewer: viewer), now: 1)
        do { try await macro.perform(in: &context) } catch { #expect(error is CommandError) }
        return context
    }

    @Test("The stop policy skips later commands and retains earlier effects")
    func stop() async {
        let context = await run(MacroCommand([remote("a"), FailingCommand(name: "f"), remote("b")], policy: .stop))
        #expect(context.steps.map(\.outcome) == [.performed, .failed, .skipped])
        #expect(context.steps.map(\.command) == ["a", "f", "b"])
        #expect(effects.all == ["+a"])
    }

    @Test("The continue policy performs later commands and does not fail")
    func continues() async throws {
        let macro = MacroCommand([remote("a"), FailingCommand(name: "f"), remote("b")], policy: .continue)
        var context = CommandContext(
            performance: "p", cell: "user:u", subject: nil, occurrence: .selection, client: ClientFingerprint(), now: 1)
        try await macro.perform(in: &context)
        #expect(context.steps.map(\.outcome) == [.performed, .failed, .performed])
        #expect(effects.all == ["+a", "+b"])
    }

    @Test("The compensate policy undoes earlier commands in reverse order")
    func compensate() async {
        let context = await run(
            MacroCommand([remote("a"), Dismiss(), remote("b"), FailingCommand(name: "f"), remote("c")], policy: .compensate))
        #expect(context.steps.map(\.outcome) == [.undone, .undone, .undone, .failed, .skipped])
        #expect(effects.all == ["+a", "+b", "-receipt of b", "-receipt of a"])
        #expect(context.changes.count == 2)
        #expect(context.steps.allSatisfy { $0.undo == nil })
    }

    @Test("The compensate policy leaves commands with a failed undo performed and undoes the others")
    func compensationFails() async {
        let context = await run(
            MacroCommand([remote("a"), remote("stuck", undoFails: true), FailingCommand(name: "f")], policy: .compensate))
        #expect(context.steps.map(\.outcome) == [.undone, .performed, .failed])
        #expect(context.steps[1].error is TestFailure)
        #expect(context.steps[1].undo != nil)
    }

    @Test("A failing inner macro is a failed step under the outer macro's policy")
    func nested() async {
        let inner = MacroCommand([remote("b"), FailingCommand(name: "f"), remote("c")], policy: .stop)
        let context = await run(MacroCommand([remote("a"), inner, remote("d")], policy: .compensate))
        #expect(context.steps.map(\.command) == ["a", "b", "f", "c", "d"])
        #expect(context.steps.map(\.outcome) == [.undone, .undone, .failed, .skipped, .skipped])
        #expect(effects.all == ["+a", "+b", "-receipt of b", "-receipt of a"])
    }

    @Test("A failed command leaves no changes in the context")
    func failureIsAtomic() async {
        let context = await run(MacroCommand([Analytics(), FailingCommand(name: "f")]))
        #expect(context.events.map(\.kind) == [.selection])
        #expect(context.presentation == nil)
    }

    @Test("Undo of one command leaves another command's entry on the same list")
    func sameListTwice() async throws {
        let inner = MacroCommand([Save(), FailingCommand(name: "f")], policy: .compensate)
        let context = await run(MacroCommand([Save(), inner], policy: .continue))
        let ledger = MemoryLedger()
        _ = try await ledger.commit(LedgerEntry(events: context.events, changes: context.changes))
        #expect(ledger.listed(.saved, "ann") == ["user:u"])
    }

    @Test("A command that needs a viewer fails as a step if the viewer is absent")
    func noViewer() async {
        let context = await run(MacroCommand([Save()]), viewer: nil)
        #expect(context.steps.map(\.outcome) == [.failed])
        #expect(context.changes.isEmpty)
    }
}
