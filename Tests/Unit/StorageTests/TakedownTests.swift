import Foundation
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Takedowns")
struct TakedownTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func key(_ id: String) -> ItemKey { ItemKey(kind: "user", id: id) }

    private func importUsers(_ kind: StoreKind, _ ids: String...) throws -> ImportSummary {
        let importer = try scratch.importer(kind)
        try importer.append(Array(ids.map { line(user: $0) }.joined(separator: "\n").utf8))
        try importer.endOfFile()
        return try importer.commit()
    }

    private func snapshot(_ kind: StoreKind, _ ids: String...) throws -> SourceChanges {
        let snapshot = try scratch.items(kind).collection(of: "people", kind: UserKind())
        _ = try snapshot.add(ids.map { try user($0) })
        return try snapshot.apply(removing: 1) { _ in }
    }

    private func isInStep(_ kind: StoreKind) throws -> Bool {
        let snapshot = try scratch.items(kind).collection(of: "people", kind: UserKind())
        defer { snapshot.discard() }
        return try snapshot.isInStep()
    }

    @Test("A taken-down item is not restored by imports and sources until its release", arguments: StoreKind.allCases)
    func withheld(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        #expect(try snapshot(kind, "a", "b", "c").added == 3)
        #expect(try await store.takeDown(key("b"), reason: "a complaint", at: 5) == TakedownChange(wasStored: true, isNew: true))
        #expect(try await store.takeDown(key("never seen"), at: 6) == TakedownChange(wasStored: false, isNew: true))
        #expect(try await store.takedowns(after: nil, limit: 9).map(\.item) == [key("b"), key("never seen")])
        #expect(try await store.takedown(of: key("b")) == Takedown(item: key("b"), at: 5, reason: "a complaint"))
        // The source is asked no more often than before for what it may not bring.
        #expect(try isInStep(kind))
        let version = store.version
        let again = try snapshot(kind, "a", "b", "c")
        #expect(again.withheld.count == 1 && again.unchanged == 2 && again.isEmpty && store.version == version)
        let imported = try importUsers(kind, "a", "b", "never seen", "d")
        #expect(imported.added == 1 && imported.replaced == 1 && imported.withheld.count == 2 && imported.items == 4)
        #expect(try await store.ids() == ["a", "c", "d"])
        // Released, it is missed at once, and brought.
        #expect(try await store.release([key("b"), key("c")]) == 1)
        #expect(try !isInStep(kind))
        #expect(try snapshot(kind, "a", "b", "c").added == 1)
        #expect(try await store.ids() == ["a", "c", "d", "b"])
    }

    @Test("A write that may not release an item refuses one that is taken down, in its transaction", arguments: StoreKind.allCases)
    func unreleased(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        #expect(try await store.takeDown(key("a"), at: 5).wasStored == false)
        await #expect(throws: StoreOperationError.Reason.takenDown(key("a"))) {
            _ = try await store.put(try user("a"), releasing: false) { _ in }
        }
        await #expect(throws: StoreOperationError(index: 1, reason: .takenDown(key("a")))) {
            _ = try await store.apply(
                [.append(try user("b")), .append(try user("a"))], reason: nil, at: 6, releasing: false
            ) { _, _ in }
        }
        #expect(try await store.ids() == [])
        #expect(try await store.takedown(of: key("a")) != nil)
        #expect(try await store.put(try user("b"), releasing: false) { _ in } == .added)
        #expect(try await store.put(try user("a"), releasing: true) { _ in } == .added)
        #expect(try await store.takedown(of: key("a")) == nil)
    }

    @Test(
        "An item that a source lists first during a takedown appears at its release, without a change of the source",
        arguments: StoreKind.allCases)
    func unseen(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        _ = try await store.takeDown(key("b"))
        #expect(try snapshot(kind, "a", "b").withheld.count == 1)
        #expect(try isInStep(kind))
        _ = try await store.release([key("b")])
        #expect(try !isInStep(kind))
        #expect(try snapshot(kind, "a", "b").added == 1)
        // It is the source's own: gone from there, it goes.
        #expect(try snapshot(kind, "a").removed == 1)
    }

    @Test("Removing operations take items down; single writes release them", arguments: StoreKind.allCases)
    func operations(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        for id in ["a", "b", "c", "d"] { _ = try await store.put(user(id)) }
        _ = try await store.apply([.remove(key("a"))], reason: "old", at: 7)
        #expect(try await store.takedown(of: key("a")) == Takedown(item: key("a"), at: 7, reason: "old"))
        _ = try await store.apply([.clear(section: SectionConfiguration.mainName)], at: 8)
        #expect(try await store.takedowns(after: key("a"), limit: 2).map(\.item.id) == ["b", "c"])
        #expect(try importUsers(kind, "a", "b", "c", "d").withheld.count == 4)
        _ = try await store.apply([.append(user("b")), .insert(user("c"), .before(key("b")))])
        #expect(try await store.put(user("d")) == .added)
        #expect(try await store.ids() == ["c", "b", "d"])
        #expect(try await store.takedowns(after: nil, limit: 9).map(\.item.id) == ["a"])
        // A list of operations that fails takes nothing down.
        await #expect(throws: StoreOperationError.self) { try await store.apply([.remove(key("b")), .remove(key("x"))]) }
        #expect(try await store.takedowns(after: nil, limit: 9).count == 1)
        // What a program of one's own removes may come again.
        #expect(try await store.remove(kind: "user", id: "b"))
        #expect(try importUsers(kind, "b").added == 1)
    }
}
