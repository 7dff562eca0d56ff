import Foundation
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Snapshots of a source")
struct SourceSnapshotTests {
    let scratch: Scratch
    let path: String

    init() throws {
        scratch = try Scratch()
        path = scratch.path("items.sqlite")
    }

    /// Applies users by their ids; an id with an exclamation mark is the same item, changed.
    @discardableResult
    private func apply(
        _ kind: StoreKind, _ ids: [String], of source: String = "people", removing share: Double = 0.5
    ) throws -> SourceChanges {
        let snapshot = try scratch.items(kind).collection(of: source, kind: UserKind())
        #expect(
            try snapshot.add(ids.map { try user($0.replacing("!", with: ""), variant: $0.hasSuffix("!") ? "featured" : "regular") }) == [])
        return try snapshot.apply(removing: share) { _ in }
    }

    private func expect(
        _ changes: SourceChanges, _ added: Int, _ changed: Int, _ removed: Int, _ unchanged: Int, released: Int = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let counts: [Int] = [changes.added, changes.changed, changes.removed, changes.unchanged, changes.released]
        let expected: [Int] = [added, changed, removed, unchanged, released]
        #expect(counts == expected, sourceLocation: sourceLocation)
    }

    @Test(
        "A snapshot adds new items in order, replaces changed items in place, and removes missing ones", arguments: StoreKind.allCases)
    func merges(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        expect(try apply(kind, ["d", "b", "a"]), 3, 0, 0, 0)
        #expect(try await store.ids() == ["d", "b", "a"])
        expect(try apply(kind, ["z", "a!", "d", "y"]), 2, 1, 1, 1)
        #expect(try await store.ids() == ["d", "a", "z", "y"])
        let changed = try await store.read { try $0.item(kind: "user", id: "a") }
        #expect(changed?.variant == "featured")
    }

    @Test("An unchanged snapshot writes nothing, so that pages stay valid", arguments: StoreKind.allCases)
    func unchanged(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        try apply(kind, ["a", "b"])
        let version = store.version
        expect(try apply(kind, ["b", "a"]), 0, 0, 0, 2)
        #expect(store.version == version)
        try apply(kind, ["a", "b", "c"])
        #expect(store.version != version)
    }

    @Test("A snapshot that would remove too many items, or all, is refused", arguments: StoreKind.allCases)
    func refused(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        try apply(kind, ["a", "b", "c", "d"])
        let version = store.version
        let error = #expect(throws: SnapshotRejection.self) { try apply(kind, ["a", "x"]) }
        #expect(
            error?.description.hasPrefix("3 of 4 items would be removed, more than the share of 0.5 that may be removed at once; ") == true)
        #expect(throws: SnapshotRejection.empty) { try apply(kind, []) }
        #expect(throws: SnapshotRejection.empty) { try apply(kind, [], of: "new") }
        #expect(throws: SnapshotRejection.self) { try apply(kind, ["a", "b", "c"], removing: 0) }
        #expect(store.version == version)
        expect(try apply(kind, ["a", "b"]), 0, 0, 2, 2)
        expect(try apply(kind, [], removing: 1), 0, 0, 2, 0)
        #expect(try await store.ids().isEmpty)
    }

    @Test("Items that existed before or were changed by others are never removed", arguments: StoreKind.allCases)
    func others(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        _ = try await store.put(user("mine"))
        expect(try apply(kind, ["mine!", "edited", "b", "c"]), 3, 1, 0, 0)
        _ = try await store.put(user("edited", variant: "featured"))
        expect(try apply(kind, ["b", "c", "d"]), 1, 0, 0, 2, released: 2)
        #expect(try await store.ids() == ["mine", "edited", "b", "c", "d"])
        // They are none of the source's any more.
        expect(try apply(kind, ["b", "c", "d"]), 0, 0, 0, 3)
    }

    @Test("A shared item is removed when its last source drops it", arguments: StoreKind.allCases)
    func shared(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        try apply(kind, ["a", "b"], of: "one")
        expect(try apply(kind, ["b", "c"], of: "two"), 1, 1, 0, 0)
        expect(try apply(kind, ["a"], of: "one"), 0, 0, 0, 1, released: 1)
        #expect(try await store.ids() == ["a", "b", "c"])
        expect(try apply(kind, ["c"], of: "two"), 0, 0, 1, 1)
        #expect(try await store.ids() == ["a", "c"])
    }

    @Test("Removed items are restored, and earlier items of the source are included", arguments: StoreKind.allCases)
    func kinds(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        try apply(kind, ["a", "b"])
        _ = try await store.remove(kind: "user", id: "a")
        expect(try apply(kind, ["a", "b"]), 1, 0, 0, 1)
        let snapshot = try scratch.items(kind).collection(of: "people", kind: AdvertisementKind())
        _ = try snapshot.add([try advertisement("a")])
        expect(try snapshot.apply(removing: 1) { _ in }, 1, 0, 2, 0)
        #expect(try await store.ids().isEmpty)
        #expect(try await store.ids(.advertisements) == ["a"])
    }

    @Test("Foreign changes are overwritten and reported", arguments: StoreKind.allCases)
    func restores(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        try apply(kind, ["a", "b!", "c"])
        #expect(try isInStep(kind))
        let version = store.version
        _ = try await store.put(user("x"))
        #expect(try isInStep(kind))
        _ = try await store.put(user("b", avatar: "https://example.com/other.png"))
        #expect(try !isInStep(kind))
        #expect(store.version != version)
        expect(try apply(kind, ["a", "b!", "c"]), 0, 1, 0, 2)
        #expect(try isInStep(kind))
        #expect(try await store.read { try $0.item(kind: "user", id: "b") }?.body == user("b").body)
        _ = try await store.remove(kind: "user", id: "c")
        #expect(try !isInStep(kind))
        expect(try apply(kind, ["a", "b!", "c"]), 1, 0, 0, 2)
        #expect(try await store.ids() == ["a", "b", "x", "c"])
        #expect(try isInStep(kind, "nobody"))
    }

    private func isInStep(_ kind: StoreKind, _ source: String = "people") throws -> Bool {
        let snapshot = try scratch.items(kind).collection(of: source, kind: UserKind())
        defer { snapshot.discard() }
        return try snapshot.isInStep()
    }

    @Test("Two sources with one item do not overwrite each other repeatedly", arguments: StoreKind.allCases)
    func peace(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        try apply(kind, ["a", "b"], of: "one")
        try apply(kind, ["a!", "c"], of: "two")
        #expect(try isInStep(kind, "one") && isInStep(kind, "two"))
        let version = store.version
        expect(try apply(kind, ["a", "b"], of: "one"), 0, 0, 0, 2)
        expect(try apply(kind, ["a!", "c"], of: "two"), 0, 0, 0, 2)
        #expect(store.version == version)
        _ = try await store.put(user("a", avatar: "https://example.com/other.png"))
        #expect(try !isInStep(kind, "one") && !isInStep(kind, "two"))
        expect(try apply(kind, ["a", "b"], of: "one"), 0, 1, 0, 1)
        #expect(try isInStep(kind, "one") && isInStep(kind, "two"))
    }

    @Test("The removable share counts removals, not released items", arguments: StoreKind.allCases)
    func share(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        _ = try await store.put(user("mine"))
        try apply(kind, ["mine!", "edited", "shared", "gone", "a"])
        try apply(kind, ["shared"], of: "other")
        _ = try await store.put(user("edited", variant: "featured"))
        #expect(throws: SnapshotRejection.tooManyRemovals(1, of: 5, share: 0.1)) { try apply(kind, ["a"], removing: 0.1) }
        expect(try apply(kind, ["a"], removing: 0.2), 0, 0, 1, 1, released: 3)
        #expect(try await store.ids() == ["mine", "edited", "shared", "a"])
    }

    @Test("Duplicates are reported, and the first is stored", arguments: StoreKind.allCases)
    func twice(kind: StoreKind) async throws {
        let snapshot = try scratch.items(kind).collection(of: "people", kind: UserKind())
        #expect(try snapshot.add([try user("a"), try user("b"), try user("a", variant: "featured")]) == [2])
        #expect(try snapshot.add([try user("b")]) == [0])
        #expect(snapshot.count == 2)
        _ = try snapshot.apply(removing: 0.5) { _ in }
        #expect(try await scratch.store(kind).ids() == ["a", "b"])
    }

    @Test("One process at a time collects a source, and no file remains")
    func exclusive() throws {
        let first = try SourceSnapshot(of: "people", kind: UserKind(), into: path)
        let error = #expect(throws: SnapshotRejection.self) { try SourceSnapshot(of: "people", kind: UserKind(), into: path) }
        #expect(error == .busy("people") && error?.description.hasPrefix("the source people is already being synchronized") == true)
        let other = try SourceSnapshot(of: "others", kind: UserKind(), into: path)
        first.discard()
        other.discard()
        try apply(.sqlite, ["a"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder).filter { $0.contains("source") } == [])
        #expect(throws: StoreError.self) { try first.add([try user("a")]) }
        #expect(throws: StoreError.self) { try other.apply(removing: 1) }
    }

    @Test("One process at a time collects a source, on any number of machines")
    func exclusiveOnServer() throws {
        let (items, kind) = (try scratch.items(.postgresql), UserKind())
        let first = try items.collection(of: "people", kind: kind)
        #expect(throws: SnapshotRejection.busy("people")) { try items.collection(of: "people", kind: kind) }
        let other = try items.collection(of: "others", kind: kind)
        first.discard()
        other.discard()
        try apply(.postgresql, ["a"])
        #expect(throws: StoreError.self) { try first.add([try user("a")]) }
    }

    @Test("Staged items of a dead process are ignored")
    func leftovers() async throws {
        _ = try scratch.write(String(repeating: "rubbish", count: 10_000), to: "items.sqlite.source-people")
        try apply(.sqlite, ["a"])
        #expect(try await SQLiteStore(path: path).ids() == ["a"])
    }

    @Test("A cancelled application is rolled back completely", arguments: StoreKind.allCases)
    func brokenOff(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        try apply(kind, ["old"])
        let snapshot = try scratch.items(kind).collection(of: "people", kind: UserKind())
        _ = try snapshot.add(try (0..<5_000).map { try user("u\($0)") } + [try user("old")])
        struct Enough: Error {}
        #expect(throws: Enough.self) { try snapshot.apply(removing: 1) { if $0 > 2_000 { throw Enough() } } }
        #expect(try await store.ids() == ["old"])
        // The lock is free again.
        _ = try await store.put(user("new"))
    }

    @Test("Other writers continue during collection", arguments: StoreKind.allCases)
    func concurrent(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        let snapshot = try scratch.items(kind).collection(of: "people", kind: UserKind())
        _ = try snapshot.add([try user("a")])
        _ = try await store.put(user("b"))
        _ = try snapshot.add([try user("c")])
        #expect(try await store.ids() == ["b"])
        _ = try snapshot.apply(removing: 0.5) { _ in }
        #expect(try await store.ids() == ["b", "a", "c"])
    }
}
