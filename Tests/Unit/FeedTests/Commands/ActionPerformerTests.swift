import Foundation
import TestSupport
import Testing

@testable import IntertwineFeed

@Suite("Performing actions")
struct ActionPerformerTests {
    let now = Fixture.now
    let ann = ClientFingerprint(viewer: "ann", address: "192.0.2.0", userAgent: "test")

    func perform(
        _ fixture: Fixture, _ slot: CommandKey = .selection, _ cell: String = "user:u0", _ client: ClientFingerprint? = nil,
        at now: Int64? = nil,
        key: IdempotencyKey? = nil
    ) async throws -> CommandResult {
        let outcome = try await fixture.performer().perform(
            slot, of: cell, for: client ?? ann, now: now ?? self.now, idempotency: key, response: { $0.json() })
        guard case .performed(let performance) = outcome else { throw TestFailure() }
        return performance
    }

    @Test("A user's selection is recorded in the ledger and has the documented response")
    func user() async throws {
        let fixture = try Fixture(users: 1)
        let performance = try await perform(fixture)
        let id = try #require(performance.invocation)
        #expect(
            String(decoding: performance.json(), as: UTF8.self)
                == #"{"invocation":{"id":"\#(id)"},"slot":"selection","commands":[{"command":"analytics","outcome":"performed"},"#
                + #"{"command":"present","outcome":"performed"}],"presentation":{"type":"push","screen":"ImageZoom","arguments":"#
                + #"{"username":"u0","image":"https://img.example/u0.png"}},"undo":{"type":"request","method":"DELETE","#
                + #""href":"/invocations/\#(id)","expiresAt":"2026-01-01T00:40:00Z"}}"#)
        #expect(fixture.ledger.events.map(\.kind) == [.selection])
        #expect(fixture.ledger.events.first?.viewer == "ann")
        #expect(try await fixture.ledger.selection(id: id)?.steps.map(\.command) == ["analytics", "present"])
    }

    @Test("An advertisement's selection leads to its stored URL and cannot be undone")
    func advertisement() async throws {
        let fixture = try Fixture(advertisements: 1)
        let performance = try await perform(fixture, .selection, "ad:0")
        #expect(performance.destination == "https://shop.example/0")
        #expect(String(decoding: performance.json(), as: UTF8.self).hasSuffix(#","open":{"href":"https://shop.example/0"}}"#))
        #expect(performance.steps.map(\.command) == ["analytics", "clickthrough"])
        #expect(performance.undo == nil)
        #expect(fixture.ledger.events.map(\.kind) == [.selection, .click])
        let id = try #require(performance.invocation)
        await #expect(throws: ActionError.notUndoable(command: "clickthrough")) {
            try await fixture.performer().undo(invocation: id, for: ann, now: now)
        }
    }

    @Test("Sized images are minted for pages and not for actions", arguments: ["user:u0", "ad:0"])
    func unseen(cell: String) async throws {
        let sized = Effects()
        let fixture = try Fixture(
            users: 1, advertisements: 1,
            links: Links(image: { source, shape, _ in
                if shape != nil { sized.note(source) }
                return Links.ImageLink(source)
            }))
        _ = try await perform(fixture, .selection, cell)
        #expect(sized.all.isEmpty)
        _ = try await fixture.page()
        #expect(sized.all.count == 3)
    }

    @Test("A zero undo window offers no undo")
    func noUndo() async throws {
        let fixture = try Fixture(users: 1)
        let performer = ActionPerformer(
            store: fixture.store, ledger: fixture.ledger, factories: fixture.factories, tokens: fixture.tokens, undoWindow: 0)
        let outcome = try await performer.perform(.dismissal, of: "user:u0", for: ann, now: now, response: { $0.json() })
        guard case .performed(let performance) = outcome else { throw TestFailure() }
        #expect(performance.undo == nil && !String(decoding: performance.json(), as: UTF8.self).contains("undo"))
        #expect(fixture.ledger.listed(.dismissed, "ann") == ["user:u0"])
    }

    @Test("A dismissal is undone once, also after its item is deleted")
    func undo() async throws {
        let fixture = try Fixture(users: 1)
        let id = try #require(try await perform(fixture, .dismissal).invocation)
        #expect(fixture.ledger.listed(.dismissed, "ann") == ["user:u0"])
        fixture.store.delete(kind: "user", id: "u0")
        let steps = try await fixture.performer().undo(invocation: id, for: ann, now: now + 1)
        #expect(steps.map(\.command) == ["dismiss", "analytics"])
        #expect(fixture.ledger.listed(.dismissed, "ann").isEmpty)
        #expect(fixture.ledger.events.map(\.kind) == [.dismissal, .undo])
        await #expect(throws: ActionError.alreadyUndone) { try await fixture.performer().undo(invocation: id, for: ann, now: now + 2) }
    }

    @Test("A simulated undo lists its steps, refuses invalid undos and changes nothing")
    func simulatedUndo() async throws {
        let fixture = try Fixture(users: 1)
        let id = try #require(try await perform(fixture, .dismissal).invocation)
        let performer = fixture.performer()
        let steps = try await performer.simulateUndo(invocation: id, for: ann, now: now + 1)
        #expect(steps.map(\.command) == ["dismiss", "analytics"] && steps.allSatisfy { $0.outcome == .simulated })
        #expect(fixture.ledger.commits == 1 && fixture.ledger.listed(.dismissed, "ann") == ["user:u0"])
        await #expect(throws: ActionError.unknownInvocation(id)) {
            try await performer.simulateUndo(invocation: id, for: ClientFingerprint(), now: now)
        }
        _ = try await performer.undo(invocation: id, for: ann, now: now + 1)
        await #expect(throws: ActionError.alreadyUndone) { try await performer.simulateUndo(invocation: id, for: ann, now: now + 2) }
    }

    @Test("An undo with an idempotency key runs once and replays its response")
    func repeatedUndo() async throws {
        let fixture = try Fixture(users: 1)
        let id = try #require(try await perform(fixture, .dismissal).invocation)
        let performer = fixture.performer()
        @Sendable func undo(_ fingerprint: String = "f") async throws -> [UInt8] {
            let key = IdempotencyKey(scope: "ann", key: "k", fingerprint: fingerprint, expires: .max)
            switch try await performer.undo(
                invocation: id, for: ann, now: now + 1, idempotency: key, response: { StepResult.json($0, of: id) })
            {
            case .undone(let steps): return StepResult.json(steps, of: id)
            case .replayed(let answer): return answer
            }
        }
        let answers = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<8 { group.addTask { try await undo() } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(answers.count == 1)
        #expect(fixture.ledger.events.map(\.kind) == [.dismissal, .undo])
        await #expect(throws: ActionError.keyReused) { try await undo("g") }
        await #expect(throws: ActionError.alreadyUndone) { try await performer.undo(invocation: id, for: ann, now: now + 1) }
    }

    @Test("Undo is refused after expiry, to other viewers and for unknown invocations")
    func undoRefused() async throws {
        let fixture = try Fixture(users: 1)
        let id = try #require(try await perform(fixture, .dismissal).invocation)
        let performer = fixture.performer()
        await #expect(throws: ActionError.undoExpired) { try await performer.undo(invocation: id, for: ann, now: now + 600_001) }
        await #expect(throws: ActionError.unknownInvocation(id)) {
            try await performer.undo(invocation: id, for: ClientFingerprint(viewer: "bob"), now: now)
        }
        await #expect(throws: ActionError.unknownInvocation("x")) { try await performer.undo(invocation: "x", for: ann, now: now) }
        #expect(fixture.ledger.listed(.dismissed, "ann") == ["user:u0"])
    }

    @Test("Unknown cells, empty slots and commands without a required viewer are refused without writes")
    func refusals() async throws {
        let fixture = try Fixture(users: 1, advertisements: 1)
        fixture.store.put(Fixture.broken("b", at: 9))
        fixture.store.put(Fixture.advertisement("clip", at: 9000, variant: "video"), in: .advertisements)
        for cell in ["user:x", "dog:u0", "user:", "user", "", ":", "ad:clip"] {
            await #expect(throws: ActionError.unknownCell(cell)) { try await perform(fixture, .selection, cell) }
        }
        await #expect(throws: ActionError.brokenCell("user:b")) { try await perform(fixture, .selection, "user:b") }
        await #expect(throws: ActionError.nothingToDo(.impression, cell: "user:u0")) { try await perform(fixture, .impression) }
        for client in [ClientFingerprint(), ClientFingerprint(address: "192.0.2.0")] {
            await #expect(throws: ActionError.viewerRequired(command: "dismiss")) {
                try await perform(fixture, .dismissal, "user:u0", client)
            }
        }
        #expect(fixture.ledger.commits == 0)
    }

    @Test("A simulation lists its commands and runs no command")
    func simulate() async throws {
        let fixture = try Fixture(users: 1)
        let performance = try await fixture.performer().simulate(.dismissal, of: "user:u0", for: ann, now: now)
        #expect(
            String(decoding: performance.json(), as: UTF8.self)
                == #"{"dryRun":true,"slot":"dismissal","commands":[{"command":"analytics","outcome":"simulated"},"#
                + #"{"command":"dismiss","outcome":"simulated"}]}"#)
        #expect(fixture.ledger.commits == 0)
        await #expect(throws: ActionError.viewerRequired(command: "dismiss")) {
            try await fixture.performer().simulate(.dismissal, of: "user:u0", for: ClientFingerprint(), now: now)
        }
    }

    @Test("A repeated idempotency key replays the response and runs no command")
    func idempotency() async throws {
        let fixture = try Fixture(users: 2)
        let key = IdempotencyKey(scope: "ann", key: "k", fingerprint: "f", expires: .max)
        let first = try await perform(fixture, key: key)
        let again = try await fixture.performer().perform(
            .selection, of: "user:u0", for: ann, now: now, idempotency: key, response: { $0.json() })
        guard case .replayed(let answer) = again else { throw TestFailure() }
        #expect(answer == first.json())
        var other = key
        other.fingerprint = "g"
        await #expect(throws: ActionError.keyReused) {
            try await fixture.performer().perform(
                .selection, of: "user:u1", for: ann, now: now, idempotency: other, response: { $0.json() })
        }
        #expect(fixture.ledger.events.count == 1)
    }

    @Test("Concurrent requests with one key run once, and concurrent undos run once")
    func simultaneous() async throws {
        let effects = Effects()
        var registry = CommandRegistry.standard
        try registry.register(RemoteCommand(name: "book", effects: effects))
        var configuration = CellConfiguration()
        configuration.userCommands[.selection] = ["book"]
        let fixture = try Fixture(users: 1, configuration: configuration, registry: registry)
        let performer = fixture.performer()
        let key = IdempotencyKey(scope: "ann", key: "k", fingerprint: "f", expires: .max)
        let answers = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<32 {
                group.addTask {
                    let outcome = try await performer.perform(
                        .selection, of: "user:u0", for: ann, now: now, idempotency: key, response: { $0.json() })
                    switch outcome {
                    case .performed(let performance): return performance.json()
                    case .replayed(let answer): return answer
                    }
                }
            }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(answers.count == 1 && effects.all == ["+book"])

        let id = try #require(fixture.ledger.selectionIDs.first)
        let undone = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<32 {
                group.addTask { (try? await performer.undo(invocation: id, for: ann, now: now)) != nil }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(undone == 1 && effects.all == ["+book", "-receipt of book"])
    }

    @Test("DNT removes the viewer from events, and undo of a dismissal still works")
    func untraced() async throws {
        let fixture = try Fixture(users: 1)
        var client = ann
        client.isTracked = false
        let dismissal = try await perform(fixture, .dismissal, "user:u0", client)
        let selection = try await perform(fixture, .selection, "user:u0", client)
        #expect(fixture.ledger.events.allSatisfy { $0.viewer == nil && $0.address == nil })
        #expect(try await fixture.ledger.selection(id: #require(selection.invocation))?.viewer == nil)
        _ = try await fixture.performer().undo(invocation: #require(dismissal.invocation), for: client, now: now)
        #expect(fixture.ledger.listed(.dismissed, "ann").isEmpty)
    }

    @Test("A ledger failure fails the action")
    func ledgerFails() async throws {
        let fixture = try Fixture(users: 1)
        fixture.ledger.fail(with: .overloaded)
        await #expect(throws: StoreError.overloaded) { try await perform(fixture) }
    }

    @Test("Random actions, failures and undos leave lists with exactly the effects not undone", arguments: 0..<80)
    func undoProperty(seed: Int) async throws {
        var random = SeededRandom(seed: UInt64(seed))
        var registry = CommandRegistry.standard
        try registry.register(FailingCommand(name: "fail"))
        var configuration = CellConfiguration()
        let policy = FailurePolicy.allCases[seed % 3]
        let failing = SlotCommands(["save", "fail", "dismiss"], policy: policy)
        configuration.userCommands[.selection] = ["analytics", "save"]
        configuration.userCommands[.deselection] = failing
        configuration.userCommands[.dismissal] = ["dismiss", "save"]
        let fixture = try Fixture(users: 4, configuration: configuration, registry: registry)

        // The model: the list entries of each performance that was not undone.
        struct Performed { var id: String; var viewer: String; var puts: [(ViewerList, String)] }
        var model: [Performed] = []
        for _ in 0..<40 {
            let viewer = ["ann", "bob"].randomElement(using: &random) ?? "ann"
            if Bool.random(using: &random), let index = model.indices.randomElement(using: &random) {
                let performed = model[index]
                let isOwner = performed.viewer == viewer
                do {
                    _ = try await fixture.performer().undo(invocation: performed.id, for: ClientFingerprint(viewer: viewer), now: now)
                    #expect(isOwner)
                    model.remove(at: index)
                } catch ActionError.unknownInvocation {
                    #expect(!isOwner)
                }
            } else {
                let slot = [CommandKey.selection, .deselection, .dismissal].randomElement(using: &random) ?? .selection
                let cell = "user:u\(Int.random(in: 0..<4, using: &random))"
                let performance = try await perform(fixture, slot, cell, ClientFingerprint(viewer: viewer))
                let lists: [ViewerList] =
                    switch (slot, policy) {
                    case (.selection, _): [.saved]
                    case (.dismissal, _), (.deselection, .continue): [.saved, .dismissed]
                    case (.deselection, .stop): [.saved]
                    default: []
                    }
                if !lists.isEmpty {
                    model.append(Performed(id: try #require(performance.invocation), viewer: viewer, puts: lists.map { ($0, cell) }))
                }
            }
            for viewer in ["ann", "bob"] {
                for list in [ViewerList.saved, .dismissed] {
                    let expected = model.filter { $0.viewer == viewer }.flatMap(\.puts).filter { $0.0 == list }.map(\.1)
                    #expect(fixture.ledger.listed(list, viewer) == Set(expected))
                }
            }
        }
    }
}
