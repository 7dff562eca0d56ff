import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Items of authors, compared with arrays")
struct FollowedRowsTests {
    private struct Authors: CellSet {
        var names: Set<String>

        func contains(_ cell: String) -> Bool { names.contains(cell) }
        func cells(limit: Int) -> [String] { Array(names.sorted().prefix(limit)) }
    }

    private struct Post {
        var id: Int
        var author: String
        var city: String
        var tags: [String]

        var line: String {
            let list = tags.map { "\"\($0)\"" }.joined(separator: ",")
            return #"{"kind":"post","id":"\#(id)","author":"\#(author)","city":"\#(city)","tags":[\#(list)],"score":\#(id % 7)}"#
        }

        func matches(_ filters: [String: [String]]) -> Bool {
            filters.allSatisfy { name, values in name == "city" ? values.contains(city) : values.contains(where: tags.contains) }
        }
    }

    @Test(
        "Each page has the items of the authors that match, also after another process arranged the store for other feeds",
        arguments: StoreKind.seeds(10))
    func pages(kind: StoreKind, seed: Int) async throws {
        let scratch = try Scratch()
        var random = SeededRandom(seed: UInt64(seed))
        let fields = [
            FieldDeclaration("author", .text), FieldDeclaration("city", .text, maximum: 40), FieldDeclaration("tags", .tags),
            FieldDeclaration("score", .number),
        ]
        let filters = fields.compactMap { ItemFilter($0) }.filter { $0.name != "score" }
        let score = SectionSort(by: SortField("score", .number), isDescending: true)
        var section = SectionConfiguration("posts", kinds: ["post"], fields: [score.field].compactMap { $0 }, order: score)
        section.followed = [filters]
        section.authors = ["post": "author"]
        let store = try scratch.store(kind)
        let stream = try #require(try store.arrange([section])["posts"])
        let posts = (0..<3_000).map { id in
            // The newest items are by none of the few authors.
            let author = id > 2_600 ? "user:z" : "user:\(Int.random(in: 0..<600, using: &random) % (id % 3 == 0 ? 5 : 600))"
            return Post(
                id: id, author: author, city: ["Berlin", "Bern", "Rome"].randomElement(using: &random) ?? "",
                tags: ["red", "green", "blue"].filter { _ in Bool.random(using: &random) } + (id == 40 ? ["rare"] : []))
        }
        let importer = try scratch.importer(
            kind, kinds: ItemKinds([try DeclaredFields(name: "post", fields: fields)]), sections: [section])
        try importer.append(Array(posts.map(\.line).joined(separator: "\n").utf8))
        try importer.endOfFile()
        _ = try importer.commit()
        let newest = NewestItems()
        var other = section
        (other.filters, other.followed) = ([[filters[1]]], [])
        for isArranged in [true, false] {
            if !isArranged { _ = try store.arrange([other]) }
            for names in [Set((0..<4).map { "user:\($0)" }), Set((5..<590).map { "user:\($0)" }), ["user:none"]] {
                for wanted in [
                    [:], ["tags": ["red"]], ["tags": ["rare", "none"], "city": ["Berlin", "Bern", "Rome"]], ["city": ["Rome"]],
                    ["tags": ["none"]], ["city": ["none"], "tags": ["blue", "green"]],
                ] {
                    let expected = posts.filter { names.contains($0.author) && $0.matches(wanted) }.map { String($0.id) }
                    for direction in [PageDirection.forward, .backward] {
                        let found = try await store.read { [filters] snapshot in
                            var (found, anchor) = ([String](), SortPosition?.none)
                            // Both ends: a page of the middle is like the next one.
                            for _ in 0..<3 {
                                let authors = AuthorSet(
                                    Authors(names: names), fields: ["post": "author"], filters: filters, newest: (newest, store.version))
                                var query = RowQuery(.stream(stream), direction, of: anchor, limit: 9)
                                query.filter = RowFilter(wanted, among: filters)
                                try snapshot.visit(query, of: authors) {
                                    found.append($0.item.id)
                                    anchor = $0.sortPosition
                                }
                            }
                            return found
                        }
                        let all = direction == .forward ? expected : expected.reversed()
                        #expect(found == Array(all.prefix(27)), "\(isArranged) \(names.count) \(wanted)")
                    }
                }
            }
            let counts = try await store.read { try $0.filterValues(filters[1], among: filters, in: stream, by: .newest) }
            #expect(counts.first { $0.value == "red" }?.count == posts.count { $0.tags.contains("red") })
        }
    }

    @Test("More authors than a page looks at, of whom none has an item, cost one read of a bounded number")
    func bounded() throws {
        final class Counted: CellSet {
            var reads = 0
            func contains(_ cell: String) -> Bool { false }
            func cells(limit: Int) -> [String] {
                reads += 1
                return (0..<min(limit, 20_000)).map { "user:\($0)" }
            }
        }
        let cells = Counted()
        let authors = AuthorSet(cells, fields: [:])
        for _ in 0..<3 { #expect(try authors.many().count == AuthorSet.limit && authors.few().count == AuthorSet.mergeLimit + 1) }
        #expect(cells.reads == 2)
    }
}
