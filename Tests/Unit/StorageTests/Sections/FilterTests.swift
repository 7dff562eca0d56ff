import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Filters, compared with arrays")
struct FilterTests {
    private struct Event {
        var id: Int
        var category: String?
        var city: String?
        var price: Double?
        var isFree: Bool?
        var tags: [String]
        var labels: [String]

        /// Returns whether the values contain those of the item, each in its spelling.
        func matches(_ filters: [String: [String]]) -> Bool {
            let own = [
                "category": category, "city": city, "price": price.map { $0 == $0.rounded() ? String(Int($0)) : String($0) },
                "free": isFree.map(String.init),
            ]
            return filters.allSatisfy { name, values in
                if name == "labels" { return values.contains { labels.contains($0) } }
                if name == "tags" { return values.contains { tags.contains($0) } }
                return own[name].flatMap { $0 }.map(values.contains) ?? false
            }
        }

        var line: String {
            let members =
                [
                    category.map { #""category":"\#($0)""# }, city.map { #""city":"\#($0)""# }, price.map { #""price":\#($0)"# },
                    isFree.map { #""free":\#($0)"# }, #""tags":[\#(tags.map { "\"\($0)\"" }.joined(separator: ","))]"#,
                    #""labels":[\#(labels.map { "\"\($0)\"" }.joined(separator: ","))]"#,
                ].compactMap { $0 }
            return #"{"kind":"event","id":\#(id),"rank":\#(id * 7919 % 101)"# + members.map { ",\($0)" }.joined() + "}"
        }
    }

    private static let categories = ["art", "music", "ski"]
    private static let cities = ["Berlin", "Zürich", "O'Hare \\\"x\\\""]

    @Test("Each page of each filter in each order has the items that match", arguments: StoreKind.seeds(20))
    func pages(kind: StoreKind, seed: Int) async throws {
        let scratch = try Scratch()
        var random = SeededRandom(seed: UInt64(seed))
        let fields = [
            FieldDeclaration("category", .text, choices: Self.categories), FieldDeclaration("city", .text, maximum: 40),
            FieldDeclaration("price", .number), FieldDeclaration("free", .boolean), FieldDeclaration("tags", .tags),
            FieldDeclaration("labels", .tags), FieldDeclaration("rank", .number, isRequired: true),
        ]
        let filters = fields.prefix(6).compactMap { ItemFilter($0) }
        #expect(filters.count == 6)
        let order =
            seed % 2 == 0
            ? SectionSort(isDescending: seed % 4 == 0) : SectionSort(by: SortField("rank", .number), isDescending: seed % 4 == 1)
        var section = SectionConfiguration("events", kinds: ["event"], fields: [order.field].compactMap { $0 }, order: order)
        section.filters = [filters]
        let store = try scratch.store(kind)
        let stream = try #require(try store.arrange([section])["events"])
        let events = (0..<150).map { id in
            Event(
                id: id, category: [nil, "art", "music", "ski"].randomElement(using: &random) ?? nil,
                city: [nil, "Berlin", "Zürich", #"O'Hare \"x\""#].randomElement(using: &random) ?? nil,
                price: [nil, 0, 12, 12.5, 0.30000000000000004].randomElement(using: &random) ?? nil,
                isFree: [nil, true, false].randomElement(using: &random) ?? nil,
                tags: ["red", "green", "blue"].shuffled(using: &random).suffix(.random(in: 0...3, using: &random)),
                labels: ["new", "old"].filter { _ in Bool.random(using: &random) })
        }
        let importer = try scratch.importer(
            kind, kinds: ItemKinds([try DeclaredFields(name: "event", fields: fields)]), sections: [section])
        try importer.append(Array(events.map(\.line).joined(separator: "\n").utf8))
        try importer.endOfFile()
        _ = try importer.commit()
        // Indices and tables of tags are made of items that exist, too.
        if seed % 3 == 0 {
            var plain = section
            plain.filters = []
            _ = try store.arrange([plain])
            _ = try store.arrange([section])
        }
        func sorted(_ events: [Event]) -> [Event] {
            let way = { (first: Event, second: Event) in
                let keys = order.field == nil ? (0, 0) : (first.id * 7919 % 101, second.id * 7919 % 101)
                return keys.0 != keys.1 ? keys.0 < keys.1 : first.id < second.id
            }
            return events.sorted { order.isDescending ? way($1, $0) : way($0, $1) }
        }
        for _ in 0..<30 {
            var wanted: [String: [String]] = [:]
            if Bool.random(using: &random) {
                wanted["category"] = Array(Self.categories.shuffled(using: &random).prefix(.random(in: 1...2, using: &random)))
            }
            if Bool.random(using: &random) {
                wanted["city"] = Array(["Berlin", "Zürich", #"O'Hare "x""#].shuffled(using: &random).prefix(2))
            }
            if Int.random(in: 0..<4, using: &random) == 0 { wanted["price"] = try [filters[2].value("12.50"), filters[2].value("3e-1")] }
            if Int.random(in: 0..<4, using: &random) == 0 { wanted["free"] = ["false"] }
            if Int.random(in: 0..<3, using: &random) == 0 {
                wanted["tags"] = [["red"], ["blue", "green"], ["none"]].randomElement(using: &random)
            }
            if Int.random(in: 0..<4, using: &random) == 0 { wanted["labels"] = ["new", "none"] }
            guard let filter = RowFilter(wanted, among: filters) else { continue }
            let naive = wanted.mapValues { $0.map { $0.replacing("\"", with: "\\\"") } }
            let expected = sorted(events.filter { $0.matches(naive) }).map { String($0.id) }
            let all = try await store.read { snapshot in try events.compactMap { try snapshot.item(kind: "event", id: String($0.id)) } }
            #expect(all.count == events.count && Set(all.filter(filter.matches).map(\.id)) == Set(expected), "\(wanted)")
            for direction in [PageDirection.forward, .backward] {
                var found: [String] = []
                var anchor: SortPosition?
                while true {
                    var query = ItemQuery(stream, order: order).rows(SectionQuery(direction, of: anchor, limit: 7))
                    query.filter = filter
                    let items = try await store.read { [query] in try $0.items(query) }
                    found += items.map(\.id)
                    anchor = items.last?.sortPosition ?? anchor
                    if items.count < 7 { break }
                }
                #expect(found == (direction == .forward ? expected : expected.reversed()), "\(wanted)")
            }
        }
        let tagged = try await store.read { try $0.filterValues(filters[4], among: filters, in: stream, by: order) }
        for tag in ["red", "green", "blue"] {
            #expect(tagged.first { $0.value == tag }?.count ?? 0 == events.count { $0.tags.contains(tag) })
        }
        let counts = try await store.read { try $0.filterValues(filters[0], among: filters, in: stream, by: order) }
        for category in Self.categories {
            #expect(counts.first { $0.value == category }?.count ?? 0 == events.count { $0.category == category })
        }
        #expect(try store.arrange([section]) == ["main": .content, "events": stream])
    }

    @Test("Choices, flags, numbers and short texts are filters, and other values are refused")
    func values() throws {
        #expect(ItemFilter(FieldDeclaration("a", .text)) == nil && ItemFilter(FieldDeclaration("a", .date)) == nil)
        let choice = try #require(ItemFilter(FieldDeclaration("a", .text, choices: ["x", "y"])))
        #expect(throws: ItemError(field: "a", reason: "must be one of x, y", code: .unknown)) { try choice.value("z") }
        let number = try #require(ItemFilter(FieldDeclaration("a", .number, maximum: 5)))
        #expect(try number.value("4.50") == "4.5" && number.value("1e0") == "1")
        for text in ["six", "6", "", "1,\"b\":2"] { #expect(throws: ItemError.self) { try number.value(text) } }
        let flag = try #require(ItemFilter(FieldDeclaration("a", .boolean)))
        #expect(throws: ItemError.self) { try flag.value("1") }
    }
}
