import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Sections of the store")
struct SectionStoreTests {
    let scratch: Scratch
    let store: SQLiteStore

    init() throws {
        scratch = try Scratch()
        store = try SQLiteStore(path: scratch.path("items.sqlite"))
    }

    private func event(_ id: String, _ body: String = "{}") -> ValidatedItem {
        ValidatedItem(kind: "event", stream: .content, id: id, variant: "", body: Array(body.utf8))
    }

    @Test(
        "Items go to the section of their kind on every write path; ads and others stay",
        arguments: StoreKind.allCases)
    func put(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        let lanes = try store.arrange([
            SectionConfiguration("main"), SectionConfiguration("events", kinds: ["event"]), SectionConfiguration("other", kinds: ["x"]),
        ])
        #expect(lanes.count == 3 && lanes["main"] == .content)
        let events = try #require(lanes["events"])
        for id in ["a", "b"] { #expect(try await store.put(event(id)) == .added) }
        _ = try await store.put(user("u"))
        _ = try await store.put(advertisement("1"))
        #expect(try await store.put(event("a")) == .replaced)
        #expect(try await store.ids(events) == ["a", "b"])
        #expect(try await store.ids() == ["u"])
        #expect(try await store.ids(.advertisements) == ["1"])
        let imported = try scratch.importer(kind, kinds: ItemKinds([EventKind()]))
        try imported.append(Array(#"[{"kind":"event","id":"c"}]"#.utf8))
        try imported.endOfFile()
        #expect(try imported.commit().added == 1)
        #expect(try await store.ids(events) == ["a", "b", "c"])
        #expect(try await store.remove(kind: "event", id: "b"))
        #expect(try await store.ids(events) == ["a", "c"])
    }

    @Test(
        "Items move to the end of the section that receives their kind, in order, and back",
        arguments: StoreKind.allCases)
    func moves(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        for id in ["a", "b", "c"] {
            _ = try await store.put(event(id))
            _ = try await store.put(user(id))
        }
        let events = try #require(try store.arrange([SectionConfiguration("events", kinds: ["event"])])["events"])
        #expect(try await store.ids(events) == ["a", "b", "c"])
        #expect(try await store.ids() == ["a", "b", "c"])
        let before = store.version
        let all = try store.arrange([SectionConfiguration("all", kinds: ["user", "event"]), SectionConfiguration("events")])
        #expect(store.version != before)
        #expect(try await store.ids(try #require(all["all"])) == ["a", "b", "c", "a", "b", "c"])
        #expect(try await store.ids().isEmpty)
        #expect(try await store.ids(events).isEmpty)
        #expect(all["events"] == events)
        _ = try store.arrange([])
        #expect(try await store.ids().count == 6)
        _ = try await store.put(event("d"))
        #expect(try await store.ids().last == "d")
    }

    @Test("A file with the configured sections is not written, even while an import locks it")
    func unchanged() async throws {
        let field = try #require(SortField("starts", .date))
        let plans = [SectionConfiguration("events", kinds: ["event"], fields: [field]), SectionConfiguration("main", fields: [field])]
        let lanes = try store.arrange(plans)
        let version = store.version
        let running = try ItemImport(into: scratch.path("items.sqlite"))
        #expect(try SQLiteStore(path: scratch.path("items.sqlite")).arrange(plans) == lanes)
        #expect(store.version == version)
        running.rollback()
    }

    @Test("An import assigns sections in new and existing stores, visible at its end")
    func importsInSections() async throws {
        let field = try #require(SortField("starts", .date))
        let plans = [SectionConfiguration("events", kinds: ["event"], fields: [field])]
        let path = scratch.path("new.sqlite")
        let first = try ItemImport(into: path, kinds: ItemKinds([EventKind()]), sections: plans)
        try first.append(Array(#"[{"kind":"event","id":"a"},{"kind":"event","id":"b"}]"#.utf8))
        try first.endOfFile()
        #expect(try first.commit().added == 2)
        let new = try SQLiteStore(path: path)
        let version = new.version
        let events = try #require(try new.arrange(plans)["events"])
        #expect(new.version == version)
        #expect(try await new.ids(events) == ["a", "b"])

        _ = try await store.put(event("a"))
        let second = try ItemImport(into: scratch.path("items.sqlite"), kinds: ItemKinds([EventKind()]), sections: plans)
        #expect(try await store.ids() == ["a"])
        try second.append(Array(#"[{"kind":"event","id":"b"}]"#.utf8))
        try second.endOfFile()
        #expect(try await store.ids() == ["a"])
        #expect(try second.commit().added == 1)
        #expect(try await store.ids().isEmpty)
        #expect(try await store.ids(try #require(store.arrange(plans)["events"])) == ["a", "b"])
    }

    @Test("The index of a section is created and removed with its order field")
    func indices() async throws {
        _ = try await store.put(event("a", #"{"starts":"2026-05-01"}"#))
        let list = { try scratch.sqlite("items.sqlite", "SELECT name FROM sqlite_schema WHERE name LIKE 'section_order%' ORDER BY name") }
        let starts = try #require(SortField("starts", .date))
        let price = try #require(SortField("price", .number))
        _ = try store.arrange([SectionConfiguration("events", kinds: ["event"], fields: [starts, price])])
        #expect(try list() == "section_order_2_moment_eeb85ac4_starts\nsection_order_2_number_b44452a_price")
        _ = try store.arrange([
            SectionConfiguration("events", kinds: ["event"], fields: [price]), SectionConfiguration("main", fields: [starts]),
        ])
        #expect(try list() == "section_order_0_moment_eeb85ac4_starts\nsection_order_2_number_b44452a_price")
        _ = try store.arrange([])
        #expect(try list().isEmpty)
    }

    @Test("An index with another key under the same name is replaced")
    func formerIndex() async throws {
        let starts = try #require(SortField("starts", .date))
        let plans = [SectionConfiguration("events", kinds: ["event"], fields: [starts])]
        _ = try store.arrange(plans)
        try scratch.sqlite(
            "items.sqlite",
            """
            DROP INDEX section_order_2_moment_eeb85ac4_starts;
            CREATE INDEX section_order_2_date_starts ON item (ifnull(julianday(json_extract(body, '$."starts"')), 0.0), position) WHERE lane = 2
            """)
        _ = try store.arrange(plans)
        let names = try scratch.sqlite("items.sqlite", "SELECT name FROM sqlite_schema WHERE name LIKE 'section_order%'")
        #expect(names == "section_order_2_moment_eeb85ac4_starts")
    }

    @Test("The streams of sections are known before a write")
    func lanes() async throws {
        _ = try await store.put(event("a"))
        _ = try store.arrange([SectionConfiguration("old", kinds: ["x"])])
        let version = store.version
        let plans = [
            SectionConfiguration("main"), SectionConfiguration("one", kinds: ["event"]), SectionConfiguration("old"),
            SectionConfiguration("two", kinds: ["user"]),
        ]
        let lanes = try store.streams(plans)
        #expect(store.version == version)
        #expect(try await store.ids() == ["a"])
        #expect(try store.arrange(plans) == lanes)
        #expect(try store.streams(plans) == lanes && lanes.count == 4)
    }

    @Test(
        "Field names that require quoting are rejected",
        arguments: ["", "a b", "a'b", "a\"b", "ü", String(repeating: "a", count: 65)])
    func fieldNames(_ name: String) {
        #expect(SortField(name, .text) == nil)
    }
}

/// A kind without fields.
struct EventKind: ItemKind {
    let name = "event"
    let stream = StreamID.content

    func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem {
        let id = try fields.text("id", limit: 64)
        return ValidatedItem(kind: name, stream: stream, id: String(decoding: id, as: UTF8.self), variant: "", body: Array("{}".utf8))
    }
}
