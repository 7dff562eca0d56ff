import IntertwinePrimitives
import Testing

@testable import IntertwineFeed
@testable import IntertwinePostgreSQL
@testable import IntertwineStorage

@Suite("The operators' index of items")
struct ItemIndexTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func user(_ id: String, _ name: String) -> ValidatedItem {
        let body = #"{"username":"\#(name)","avatarUrl":"https://pictures.example.com/\#(id).png"}"#
        return ValidatedItem(kind: "user", stream: .content, id: id, variant: "regular", body: Array(body.utf8))
    }

    private func ad(_ id: String, _ text: String) -> ValidatedItem {
        ValidatedItem(kind: "ad", stream: .advertisements, id: id, variant: "text", body: Array(#"{"text":"\#(text)"}"#.utf8))
    }

    private func query(_ text: String = "", limit: Int = 100, _ change: (inout ItemListQuery) -> Void = { _ in }) -> ItemListQuery {
        var query = ItemListQuery(limit: limit)
        query.words = ItemSummary.words(text)
        change(&query)
        return query
    }

    /// The ids of all pages.
    private func ids(_ store: any ItemStore, _ query: ItemListQuery) async throws -> [String] {
        var (query, ids) = (query, [String]())
        while true {
            let items = try await store.items(query).items
            ids += items.map(\.key.id)
            guard let last = items.last, items.count == query.limit else { return ids }
            query.anchor = last.anchor
        }
    }

    @Test("The first page has the number of all items that are found, if they are few", arguments: StoreKind.allCases)
    func total(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        for number in 0..<7 { _ = try await store.put(user("u\(number)", "Same \(number % 2)")) }
        _ = try await store.put(ad("7", "Same"))
        try await update(store)
        let limits = [1, 3, 8, 100]
        let cases: [(query: ItemListQuery, total: Int)] = [
            (query(), 8), (query("same"), 8), (query("nothing"), 0), (query { $0.kind = "user" }, 7), (query { $0.order = .title }, 8),
            (query("same") { $0.kind = "ad" }, 1), (query { $0.state = .takenDown }, 0), (query { $0.schedule = .scheduled }, 0),
            (query(limit: 0), 0), (query("same", limit: 0), 0),
            (query { $0.section = "advertisements" }, 1), (query { $0.picture = "https://pictures.example.com/u3.png" }, 1),
        ]
        for (asked, total) in cases {
            for limit in asked.limit == 0 ? [0] : limits {
                var asked = asked
                asked.limit = limit
                let found = try await store.items(asked)
                #expect(found.total == total, "\(asked)")
                asked.anchor = found.items.last?.anchor
                if asked.anchor != nil { #expect(try await store.items(asked).total == nil) }
            }
        }
    }

    private func update(_ store: any ItemStore) async throws {
        while try await store.updateIndex(limit: 3) > 0 {}
    }

    @Test("A search finds beginnings of words, whatever their case and accents, with filters", arguments: StoreKind.allCases)
    func search(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        for item in [user("a", "Élan Vital"), user("b", "Vital Spark"), user("c", "O'Neil 42"), ad("7", "Spark plugs")] {
            _ = try await store.put(item)
        }
        try await update(store)
        #expect(try await Set(ids(store, query("elan"))) == ["a"])
        #expect(try await Set(ids(store, query("VIT"))) == ["a", "b"])
        #expect(try await Set(ids(store, query("spark"))) == ["b", "7"])
        #expect(try await Set(ids(store, query("spark vit"))) == ["b"])
        #expect(try await Set(ids(store, query("spark") { $0.kind = "ad" })) == ["7"])
        #expect(try await Set(ids(store, query("neil 4"))) == ["c"])
        #expect(try await Set(ids(store, query("ad:7"))) == ["7"])
        #expect(try await ids(store, query("pictures")).isEmpty, "URLs are no words")
        #expect(try await ids(store, query { $0.kind = "user" }).count == 3)
    }

    @Test("A beginning finds the items of few and of many words", arguments: StoreKind.allCases)
    func beginnings(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        // Of a beginning with 128 words, or more, SQLite reads an index of beginnings.
        let names =
            (0..<150).map { "alpha\(1_000 + $0) beta\($0 % 3)" } + [
                "alphabet beta9", "alph", "betty", "Ä\u{10FFFD}", "äöüß beta", "हिन्दी पाठ", "தமிழ்",
            ]
        for (number, name) in names.enumerated() { _ = try await store.put(user("u\(number)", name)) }
        _ = try await store.updateIndex(limit: 1_000)
        for text in [
            "a", "al", "alp", "alph", "alpha", "alpha1", "alpha10", "alpha105", "alpha1050", "alpha10500", "alphabet", "alphabets", "beta",
            "beta1", "alpha10 beta1", "alpha1 beta", "alphab beta9", "alpha beta9", "äöüß", "äöü", "zzzz", "beta beta2 alpha1", "हिन",
            "हिन्दी पा", "தமி", "বাংলা",
        ] {
            let words = ItemSummary.words(text)
            let wanted = names.indices.filter { index in
                words.allSatisfy { word in ItemSummary.words(names[index]).contains { $0.unicodeScalars.starts(with: word.unicodeScalars) }
                }
            }
            #expect(try await Set(ids(store, query(text))) == Set(wanted.map { "u\($0)" }), "\(text)")
        }
    }

    @Test("Words of other scripts are whole, and found without the marks that people omit", arguments: StoreKind.allCases)
    func scripts(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        let names = [
            "hindi": "हिन्दी फ़िल्म", "arabic": "الْعَرَبِيَّة لُغَـة", "plain": "العربية أدب", "thai": "น้ำตกไทย", "hebrew": "שָׁלוֹם עוֹלָם",
            "vietnamese": "Tiếng Việt", "german": "Übergröße", "korean": "\u{1112}\u{1161}\u{11AB}글", "tamil": "தமிழ்", "greek": "Ἀθῆναι",
        ]
        for (id, name) in names { _ = try await store.put(user(id, name)) }
        try await update(store)
        for (text, ids) in [
            ("हिन्दी", ["hindi"]), ("हिन्", ["hindi"]), ("हन", []), ("न्दी", []), ("हिन दी", []), ("\u{095E}िल्म", ["hindi"]), ("फ", ["hindi"]),
            ("العربية", ["arabic", "plain"]), ("الْعَرَبِيَّة", ["arabic", "plain"]), ("لغة", ["arabic"]), ("ادب", ["plain"]), ("أَدَب", ["plain"]),
            ("น้ำ", ["thai"]), ("นำ", []), ("שלום", ["hebrew"]), ("שָׁלוֹם עולם", ["hebrew"]), ("שֶׁל", ["hebrew"]), ("tieng", ["vietnamese"]),
            ("Tie\u{302}\u{301}ng viet", ["vietnamese"]), ("ubergro", ["german"]), ("U\u{308}bergröße", ["german"]), ("한글", ["korean"]),
            ("தமி", ["tamil"]), ("தம", ["tamil"]), ("αθηναι", ["greek"]), ("\u{301}", names.keys.sorted()), ("ி", []),
            ("\u{20DD}", names.keys.sorted()),
        ] {
            #expect(try await Set(self.ids(store, query(text))) == Set(ids), "\(text)")
        }
    }

    @Test("Frequent and rare words of many items are found on PostgreSQL")
    func frequent() async throws {
        let store = try scratch.store(.postgresql)
        let address = try #require(try scratch.items(.postgresql) as? PostgresItemLocation).address
        _ = try await store.put(user("a", "Other"))
        try await update(store)
        // A sample of 8 % has enough of the frequent word, and none of a tenth.
        let connection = try PostgresConnection(address, PostgresSettings(applicationName: "tests"))
        try connection.execute(
            """
            INSERT INTO item_entry (kind, id, title, state, changed, search)
            SELECT 'user', 'x' || n, '', 'public', 0, array_to_tsvector(CASE
                WHEN n % 100 = 0 THEN '{same,tenth,rare}'::text[] WHEN n % 10 = 0 THEN '{same,tenth}' ELSE '{same}' END)
            FROM generate_series(1, 140000) AS n
            """)
        for (word, total) in [("same", nil), ("tenth", nil), ("rare", 1_400), ("other", 1), ("none", 0)] as [(String, Int?)] {
            let found = try await store.items(query(word, limit: 50))
            #expect(found.total == total && Set(found.items.map(\.key)).count == min(50, total ?? 50), "\(word): \(found.items.count)")
        }
    }

    @Test("No text finds the filters of an index, nor that of an index made before", arguments: StoreKind.allCases)
    func filters(kind: StoreKind) async throws {
        let written = try scratch.store(kind)
        for item in [user("a", "Kind words"), user("b", "Other"), ad("7", "State fair")] { _ = try await written.put(item) }
        try await update(written)
        _ = try await written.put(user("b", "Another"))
        let changed = try await written.items(query()).items.map(\.changed)
        // The words of the entries as the format before had them.
        let old = "kind:user state:public picture:0123456789abcdef01234567 user a kind words"
        if let address = try (scratch.items(kind) as? PostgresItemLocation)?.address {
            let connection = try PostgresConnection(address, PostgresSettings(applicationName: "tests"))
            try connection.execute(
                """
                UPDATE item_entry SET search = array_to_tsvector(string_to_array('\(old)', ' '));
                UPDATE intertwine_schema SET version = 1 WHERE part = 'item-index'
                """)
        } else {
            try scratch.sqlite(
                "items.sqlite",
                """
                DROP TABLE item_search;
                CREATE VIRTUAL TABLE item_search USING fts5(
                    words, detail = none, columnsize = 0, prefix = '2 3', tokenize = "unicode61 remove_diacritics 0 tokenchars ':-_.'");
                INSERT INTO item_search (rowid, words) SELECT number, '\(old)' FROM item_entry
                """)
        }
        let store = try scratch.store(kind)
        try await update(store)
        for _ in 0..<2 {
            for (text, ids) in [
                ("kind", ["a"]), ("kin", ["a"]), ("state", ["7"]), ("st", ["7"]), ("pic", []), ("picture", []), ("picture:0123", []),
                (":kind:user", ["a"]), ("kind:user", ["a"]), ("public", []), ("another", ["b"]), ("user", ["a", "b"]),
            ] {
                #expect(try await Set(self.ids(store, query(text))) == Set(ids), "\(text)")
            }
            #expect(try await ids(store, query("kind") { $0.kind = "user" }) == ["a"])
            for url in [
                "https://pictures.example.com/b.png", "HTTPS://Pictures.Example.COM:443/b.png", "https:pictures.example.com\\b.png",
                " //pictures.example.com/b.png",
            ] {
                #expect(try await ids(store, query { $0.picture = url }) == ["b"], "\(url)")
            }
            #expect(try await store.items(query()).items.map(\.changed) == changed)
            // An index of this format is not written again.
            let again = try scratch.store(kind)
            try await again.createIndex()
            #expect(try await again.items(query()).isComplete)
        }
    }

    @Test("A schedule is to come, over, or that of a draft", arguments: StoreKind.allCases)
    func schedules(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        let (past, future) = (#""2001-01-01T00:00:00Z""#, #""2999-01-01T00:00:00Z""#)
        for (id, schedule) in [
            ("plain", ""), ("coming", #""publishAt":\#(future),"#), ("ending", #""expireAt":\#(future),"#),
            ("over", #""expireAt":\#(past),"#), ("begun", #""publishAt":\#(past),"#),
            ("draft", #""draft":true,"#), ("later", #""publishAt":\#(future),"draft":true,"#),
        ] {
            var item = user(id, #"draft\":true"#)
            item.body = Array("{\(schedule)".utf8) + item.body.dropFirst()
            _ = try await store.put(item)
        }
        try await update(store)
        for (schedule, wanted) in [
            (ItemListQuery.Schedule.scheduled, ["coming", "ending"]), (.expired, ["over"]), (.draft, ["draft", "later"]),
        ] {
            #expect(try await Set(ids(store, query { $0.schedule = schedule })) == Set(wanted))
        }
    }

    @Test("The items that a source lists are found in every order, of few and of many", arguments: StoreKind.allCases)
    func sources(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        for id in ["a", "b", "own"] { _ = try await store.put(user(id, "Spark \(id)")) }
        for (source, ids) in [("people", ["a", "c", "e"]), ("others", ["a", "d"])] {
            let list = try scratch.items(kind).collection(of: source, kind: UserKind())
            #expect(try list.add(ids.map { user($0, "Spark \($0)") }) == [])
            _ = try list.apply(removing: 1) { _ in }
        }
        try await update(store)
        _ = try await store.takeDown(ItemKey(kind: "user", id: "d"), reason: nil, at: 5_000)
        for _ in 0..<2 {
            for order in ItemListQuery.Order.allCases {
                for text in ["", "spark"] {
                    let wanted = query(text, limit: 2) { ($0.isBySource, $0.order) = (true, order) }
                    #expect(try await ids(store, wanted).sorted() == ["a", "c", "d", "e"], "\(order) \(text)")
                }
            }
            let listed = try await store.items(query { $0.isBySource = true })
            #expect(listed.items.allSatisfy { $0.source != nil } && listed.total == 4)
            #expect(try await store.items(query()).items.count { $0.source != nil } == 4, "as in the list of all")
            #expect(try await ids(store, query("own") { $0.isBySource = true }).isEmpty)
            // Many items are asked for in another way.
            let many = """
                WITH RECURSIVE list (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM list WHERE n < 20001)
                INSERT INTO source_item (source, kind, id, digest, adopted)
                SELECT (SELECT min(number) FROM source), 'user', 'x' || n, 0, \(kind == .postgresql ? "false" : "0") FROM list
                ON CONFLICT DO NOTHING
                """
            if let address = try (scratch.items(kind) as? PostgresItemLocation)?.address {
                try PostgresConnection(address, PostgresSettings(applicationName: "tests")).execute(many)
            } else {
                try scratch.sqlite("items.sqlite", many.replacing("FROM list\n", with: "FROM list WHERE true\n"))
            }
        }
    }

    @Test(
        "Imports and sources have a time of change from the index on, what was before has none and is last", arguments: StoreKind.allCases)
    func changes(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        for id in ["a", "b"] { _ = try await store.put(user(id, "Name")) }
        try await update(store)
        let importer = try scratch.importer(kind)
        let line = #"{"kind":"user","type":"regular","id":"b","username":"Imported","avatarUrl":"https://pictures.example.com/d.png"}"#
        try importer.append(Array(line.utf8))
        try importer.endOfFile()
        _ = try importer.commit()
        let list = try scratch.items(kind).collection(of: "people", kind: UserKind())
        #expect(try list.add([user("c", "Synced")]) == [])
        _ = try list.apply(removing: 1) { _ in }
        try await update(store)
        let newest = query { ($0.order, $0.isDescending) = (.changed, true) }
        let listed = try await store.items(newest).items
        #expect(listed.map { $0.changed > 0 } == [true, true, false] && listed.last?.key.id == "a", "\(listed.map(\.changed))")
    }

    @Test("Each order has each item once, in pages of any size", arguments: StoreKind.allCases, [1, 3, 50])
    func orders(kind: StoreKind, limit: Int) async throws {
        let store = try scratch.store(kind)
        for number in 0..<7 { _ = try await store.put(user("u\(number)", "Name \(number * 3 % 7)")) }
        try await update(store)
        let titles = ["u0", "u5", "u3", "u1", "u6", "u4", "u2"]
        // The index has seen the items in any order.
        let added = try await ids(store, query())
        #expect(Set(added).count == 7)
        for (order, wanted) in [(ItemListQuery.Order.added, added), (.title, titles)] {
            #expect(try await ids(store, query(limit: limit) { $0.order = order }) == wanted)
            #expect(
                try await ids(store, query(limit: limit) { ($0.order, $0.isDescending) = (order, true) }) == Array(wanted.reversed()))
            #expect(try await ids(store, query("name", limit: limit) { $0.order = order }) == wanted)
        }
        _ = try await store.put(user("u3", "Other"))
        let changed = try await ids(store, query(limit: limit) { ($0.order, $0.isDescending) = (.changed, true) })
        #expect(changed.first == "u3" && Set(changed).count == 7)
        #expect(try await ids(store, query(limit: limit) { $0.section = "main" }) == (0..<7).map { "u\($0)" })
    }

    @Test("Writes of every kind reach the index, an import's by the next update", arguments: StoreKind.allCases)
    func writes(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        _ = try await store.put(user("a", "First"))
        try await update(store)
        // What operators write is found at once.
        _ = try await store.put(user("b", "Second"))
        _ = try await store.apply([.append(user("c", "Third")), .update(user("a", "Renamed"))])
        #expect(try await ids(store, query("third")) == ["c"])
        #expect(try await ids(store, query("renamed")) == ["a"])
        #expect(try await ids(store, query("first")).isEmpty)
        #expect(try await store.items(query()).isComplete)
        let importer = try scratch.importer(kind)
        let line = #"{"kind":"user","type":"regular","id":"d","username":"Imported","avatarUrl":"https://pictures.example.com/d.png"}"#
        try importer.append(Array(line.utf8))
        try importer.endOfFile()
        _ = try importer.commit()
        #expect(try await !store.items(query()).isComplete)
        try await update(store)
        #expect(try await ids(store, query("imported")) == ["d"])
        _ = try await store.remove(kind: "user", id: "d")
        try await update(store)
        #expect(try await ids(store, query("imported")).isEmpty)
        #expect(try await ids(store, query()) == ["a", "b", "c"])
    }

    @Test("A takedown keeps the document, its reason and who ordered it", arguments: StoreKind.allCases)
    func takedowns(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        for item in [user("a", "Kept"), user("b", "Other")] { _ = try await store.put(item) }
        try await update(store)
        _ = try await ItemRevision.$author.withValue("jwt:ann") {
            try await store.takeDown(ItemKey(kind: "user", id: "a"), reason: "complaint", at: 5_000)
        }
        let found = try await store.items(query("kept")).items
        #expect(found.map(\.state) == [.takenDown] && found.first?.takedown?.reason == "complaint" && found.first?.who == "jwt:ann")
        #expect(try #require(found.first?.body) == user("a", "Kept").body)
        #expect(try await ids(store, query { $0.state = .takenDown }) == ["a"])
        #expect(try await ids(store, query { $0.state = .public }) == ["b"])
        _ = try await store.put(user("a", "Kept"))
        #expect(try await ids(store, query { $0.state = .takenDown }).isEmpty)
        _ = try await store.apply([.remove(ItemKey(kind: "user", id: "b"))])
        #expect(try await ids(store, query("other") { $0.state = .takenDown }) == ["b"])
        _ = try await store.release([ItemKey(kind: "user", id: "b")])
        #expect(try await ids(store, query()) == ["a"])
    }

    @Test("The last 20 documents of an item are kept, those of other writes than an operator's are not", arguments: StoreKind.allCases)
    func revisions(kind: StoreKind) async throws {
        let store = try scratch.store(kind)
        let key = ItemKey(kind: "user", id: "a")
        for number in 0..<23 { _ = try await store.put(user("a", "Name \(number)")) }
        // The same document is no change.
        _ = try await store.put(user("a", "Name 22"))
        let kept = try await store.revisions(of: key)
        #expect(kept.map(\.number) == Array((3...22).reversed()))
        #expect(kept.first?.body == user("a", "Name 21").body && kept.last?.body == user("a", "Name 2").body)
        #expect(kept.allSatisfy { $0.action == .edit && $0.variant == "regular" })
    }
}
