import Synchronization
import Testing

@testable import IntertwineFeed

@Suite("Command engine")
struct CommandEngineTests {
    let effects = Effects()
    let ann = ClientFingerprint(viewer: "ann", userAgent: "test")

    /// A custom macro that declares only its components.
    struct Pair: Command {
        let name = "pair"
        let components: [any Command]?
    }

    /// A custom macro that performs the second command only if the first command fails.
    struct Otherwise: Command {
        let name = "otherwise"
        let first: any Command
        let second: any Command

        var components: [any Command]? { [first, second] }

        func perform(in context: inout CommandContext) async throws {
            do {
                try await context.perform(first)
                context.skip(second)
            } catch {
                try await context.perform(second)
            }
        }
    }

    func remote(_ name: String) -> RemoteCommand {
        RemoteCommand(name: name, effects: effects)
    }

    func run(_ command: any Command) async -> CommandContext {
        var context = CommandContext(
            performance: "p", cell: "user:u", subject: nil, occurrence: .selection, client: ann, now: 1)
        try? await command.perform(in: &context)
        return context
    }

    @Test("A custom macro is recorded, skipped and undone like the standard macro")
    func macros() async throws {
        let own = Pair(components: [remote("a"), FailingCommand(name: "f"), remote("b")])
        let context = await run(MacroCommand([remote("z"), own, Pair(components: [remote("c")])], policy: .compensate))
        let same = await run(
            MacroCommand(
                [remote("z"), MacroCommand([remote("a"), FailingCommand(name: "f"), remote("b")]), remote("c")], policy: .compensate))
        #expect(context.steps.map(\.command) == ["z", "a", "f", "b", "c"])
        #expect(context.steps.map(\.outcome) == [.undone, .undone, .failed, .skipped, .skipped])
        #expect(context.events.isEmpty && context.presentation == nil)
        #expect(same.steps.map(\.outcome) == context.steps.map(\.outcome))
        #expect(effects.all == Array(repeating: ["+z", "+a", "-receipt of a", "-receipt of z"], count: 2).flatMap { $0 })
    }

    @Test("A macro may choose the commands to perform")
    func choice() async {
        let context = await run(
            MacroCommand([
                Otherwise(first: FailingCommand(name: "f"), second: Save()), Otherwise(first: remote("a"), second: remote("b")),
            ]))
        #expect(context.steps.map(\.command) == ["f", "save", "a", "b"])
        #expect(context.steps.map(\.outcome) == [.failed, .performed, .performed, .skipped])
        #expect(context.events.map(\.kind) == [.save] && context.changes.count == 1)
    }

    private func fixture(
        _ command: any Command, at slot: CommandKey = .selection, advertisements: [String]? = nil
    ) throws -> Fixture {
        var registry = CommandRegistry.standard
        try registry.register(command)
        var configuration = CellConfiguration()
        configuration.userCommands[slot] = SlotCommands(["analytics", command.name])
        configuration.advertisementCommands[slot] = SlotCommands(advertisements ?? ["analytics", command.name, "clickthrough"])
        return try Fixture(users: 1, advertisements: 1, configuration: configuration, registry: registry)
    }

    @Test("A macro's components are simulated, checked for a viewer, and undone in reverse")
    func performer() async throws {
        let fixture = try fixture(Pair(components: [remote("a"), Save(), Pair(components: [remote("b")])]))
        let performer = fixture.performer()
        let simulated = try await performer.simulate(.selection, of: "user:u0", for: ann, now: Fixture.now)
        #expect(simulated.steps.map(\.command) == ["analytics", "a", "save", "b"] && effects.all.isEmpty)
        await #expect(throws: ActionError.viewerRequired(command: "save")) {
            try await performer.perform(.selection, of: "user:u0", for: ClientFingerprint(), now: Fixture.now, response: { $0.json() })
        }
        let outcome = try await performer.perform(.selection, of: "user:u0", for: ann, now: Fixture.now, response: { $0.json() })
        guard case .performed(let performance) = outcome else { throw TestFailure() }
        #expect(performance.steps.map(\.outcome) == Array(repeating: .performed, count: 4) && performance.undo != nil)
        let undone = try await performer.undo(invocation: #require(performance.invocation), for: ann, now: Fixture.now)
        #expect(undone.map(\.command) == ["b", "save", "a", "analytics"])
        #expect(effects.all == ["+a", "+b", "-receipt of b", "-receipt of a"] && fixture.ledger.listed(.saved, "ann").isEmpty)
    }

    /// Creates cells with a selection of one command and no macro.
    struct PlainFactory: CellViewModelFactory {
        let identifier = "PlainCell"
        let command: any Command

        func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
            CellViewModel(
                identifier: identifier, size: CellSize(width: 1, height: 1), commands: [.selection: command],
                subject: CommandSubject(cell: cell, item: item, context: context))
        }
    }

    @Test("A single command in a slot is one step, and its failure leaves no effects", arguments: [true, false])
    func alone(fails: Bool) async throws {
        var fixture = try Fixture()
        let command: any Command = fails ? FailingCommand(name: "f") : Save()
        try fixture.factories.register(PlainFactory(command: command), for: ItemType(kind: "plain", variant: ""), prefix: "plain")
        fixture.store.put(FeedItem(kind: "plain", id: "1", variant: "", position: 1, body: []))
        let outcome = try await fixture.performer().perform(.selection, of: "plain:1", for: ann, now: Fixture.now, response: { $0.json() })
        guard case .performed(let performance) = outcome else { throw TestFailure() }
        #expect(performance.steps.map(\.outcome) == [fails ? .failed : .performed])
        #expect(fixture.ledger.events.map(\.kind) == (fails ? [] : [.save]) && performance.presentation == nil)
        #expect(fixture.ledger.listed(.saved, "ann") == (fails ? [] : ["plain:1"]))
    }

    /// A ledger that completes clicks at once.
    private final class PromptLedger: Ledger {
        let base = MemoryLedger()
        let taken = Mutex(0)

        func commit(_ entry: LedgerEntry, completion: @escaping @Sendable (Result<LedgerReceipt, any Error>) -> Void) {
            taken.withLock { $0 += 1 }
            completion(.success(.committed(entry.events.map(\.verdict))))
        }

        func commit(_ entry: LedgerEntry) async throws -> LedgerReceipt { try await base.commit(entry) }
        func replay(of key: IdempotencyKey) async throws -> LedgerReceipt? { nil }
        func selection(id: String) async throws -> CommandRecord? { nil }
        func cells(on list: ViewerList, of viewer: String, after mark: Int64?, limit: Int) async throws -> [ListEntry] { [] }
        func cells(on list: ViewerList, of viewer: String, before mark: Int64, limit: Int) async throws -> [ListEntry] { [] }
        func contains(_ cell: String, on list: ViewerList, of viewer: String) async throws -> Bool { false }
        func withCells<Value>(on lists: [ViewerList], of viewer: String, _ body: ([(any CellSet)?]) throws -> Value) throws -> Value {
            try base.withCells(on: lists, of: viewer, body)
        }
    }

    @Test(
        "A click on a cached link reaches the ledger at once unless its command waits",
        arguments: [true, false])
    func clicks(waits: Bool) async throws {
        let fixture = try fixture(waits ? remote("a") as any Command : Pair(components: [Save()]))
        let ledger = PromptLedger()
        let performer = ActionPerformer(
            store: fixture.store, ledger: ledger, factories: fixture.factories, registry: fixture.registry, tokens: fixture.tokens)
        let token = fixture.tokens.click(cell: "ad:0", slot: 0, now: Fixture.now)
        #expect(performer.link(token: token, for: ann, now: Fixture.now) == nil)
        _ = try await performer.click(token: token, for: ann, now: Fixture.now)
        let link = try #require(performer.link(token: token, for: ann, now: Fixture.now))
        let before = ledger.taken.withLock { $0 }
        let click = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<ActionPerformer.Click, any Error>) in
            performer.follow(link) { continuation.resume(with: $0) }
            if !waits { #expect(ledger.taken.withLock { $0 } == before + 1) }
        }
        #expect(click.location == "https://shop.example/0" && click.verdict == .counted)
        #expect(effects.all == (waits ? ["+a", "+a"] : []))
    }

    @Test("A click without other effects has the same event and destination as performed commands")
    func plainClicks() async throws {
        for client in [ann, ClientFingerprint(address: "192.0.2.0/24", addressHash: "a"), ClientFingerprint(viewer: "ann", verdict: .bot)] {
            var clicks: [(event: LedgerEvent, click: ActionPerformer.Click)] = []
            // The effects of a custom macro are unknown in advance.
            for commands in [["analytics", "clickthrough"], ["analytics", "pair", "clickthrough"]] {
                let fixture = try fixture(Pair(components: [Analytics()]), advertisements: commands)
                let token = fixture.tokens.click(
                    cell: "ad:0", slot: 0, impressionContext: ImpressionContext(feed: "main", position: 3, layout: .table), now: Fixture.now
                )
                let click = try await fixture.performer().click(token: token, for: client, now: Fixture.now)
                #expect(fixture.ledger.events.count == 1)
                clicks.append((try #require(fixture.ledger.events.first), click))
            }
            #expect(clicks[0] == clicks[1] && clicks[0].event.creative != nil && clicks[0].event.impressionContext?.position == 3)
        }
    }

    @Test("An invocation has one stable id, and another invocation has a different id")
    func names() {
        var (one, other) = (
            CommandContext(cell: "c", subject: nil, occurrence: .click, client: ClientFingerprint(), now: 1),
            CommandContext(cell: "c", subject: nil, occurrence: .click, client: ClientFingerprint(), now: 1)
        )
        let name = one.performance
        #expect(name.count == 22 && name == one.performance && name != other.performance)
    }
}
