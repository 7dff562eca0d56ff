import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

/// A feed of three sections over a store on disk, and the same feed as plain arrays.
final class SectionedFeed {
    /// An item of the model.
    struct Item: Hashable {
        var kind: String
        var id: String
        var title: String
        var price: Double
        /// Minutes since the first possible moment, whatever offset the item says it with.
        var starts: Int
        var cell: String { "\(kind):\(id)" }
    }

    static let kinds = ["a", "b", "c", "d"]
    static let orders: [(order: SectionSort, precedes: @Sendable (Item, Item) -> Bool)] = [
        (.imported, { _, _ in false }),
        (SectionSort(by: SortField("title", .text)), { Array($0.title.utf8).lexicographicallyPrecedes(Array($1.title.utf8)) }),
        (SectionSort(by: SortField("price", .number)), { $0.price < $1.price }),
        (SectionSort(by: SortField("starts", .date)), { $0.starts < $1.starts }),
    ]

    private let scratch: Scratch
    let store: any ItemStore
    let sections: [(name: String, title: String?, kinds: [String], order: Int, isDescending: Bool)]
    let advertisements: [String]
    private let assembler: FeedAssembler
    private let perPage: Int
    /// In the order of import.
    private(set) var items: [Item] = []

    init(_ kind: StoreKind, seed: Int) async throws {
        scratch = try Scratch()
        var random = SeededRandom(seed: UInt64(seed))
        func section(_ name: String, _ title: String?, _ kinds: [String]) -> (String, String?, [String], Int, Bool) {
            (name, title, kinds, .random(in: 0..<Self.orders.count, using: &random), .random(using: &random))
        }
        let sections = [section("one", "One", ["a"]), section("two", nil, ["b", "c"]), section("main", "Others", ["d"])]
        self.sections = sections
        perPage = seed % 3
        store = try scratch.store(kind)
        let lanes = try store.arrange(
            sections.map { section in
                SectionConfiguration(
                    section.0, kinds: section.0 == "main" ? [] : section.2, fields: [Self.orders[section.3].order.field].compactMap { $0 })
            })
        advertisements = (0..<Int.random(in: 0...4, using: &random)).map(String.init)
        for id in advertisements { _ = try await store.put(advertisement(id)) }
        assembler = try FeedAssembler.standard(
            over: store,
            source: SectionedDataSource(
                sections.compactMap { section in
                    lanes[section.0].map { lane in
                        FeedSection(
                            section.0, title: section.1, stream: lane,
                            order: SectionSort(by: Self.orders[section.3].order.field, isDescending: section.4))
                    }
                }, showsAdsAlone: true),
            kinds: Self.kinds, placement: MidpointPlacement(advertisements: perPage))
    }

    func page(_ cursor: String?, limit: Int) async throws -> FeedPage {
        try await assembler.page(FeedRequest(cursor: cursor, limit: limit, now: 1_767_227_400_000))
    }

    /// One write, to the store and to the model; the cell of the item that it changed or removed, if there was one.
    func write(_ random: inout SeededRandom) async throws -> String? {
        let kind = Self.kinds[.random(in: 0..<4, using: &random)]
        let id = String(Int.random(in: 0..<12, using: &random))
        let known = items.firstIndex { $0.kind == kind && $0.id == id }
        if let known, Int.random(in: 0..<3, using: &random) == 0 {
            #expect(try await store.remove(kind: kind, id: id))
            return items.remove(at: known).cell
        }
        let starts = Int.random(in: 0...5, using: &random)
        let item = Item(
            kind: kind, id: id, title: ["", "b", "a", "ä", "aa", "Z"][.random(in: 0..<6, using: &random)],
            price: [-1.5, 0, 2, 1e300][.random(in: 0..<4, using: &random)], starts: starts)
        let offset = Int.random(in: 0...2, using: &random)
        let body =
            #"{"title":"\#(item.title)","price":\#(item.price),"starts":"2026-05-01T1\#(offset):0\#(starts):00+0\#(offset):00"}"#
        _ = try await store.put(ValidatedItem(kind: kind, stream: .content, id: id, variant: "", body: Array(body.utf8)))
        guard let known else {
            items.append(item)
            return nil
        }
        items[known] = item
        return item.cell
    }

    /// What the model shows of each section, in order.
    var content: [(section: String, cells: [String])] {
        sections.map { section in
            let standing = items.filter { section.kinds.contains($0.kind) }
            let precedes = Self.orders[section.order].precedes
            // Sorting is stable: alike items stay in the order of import.
            let sorted = standing.sorted { precedes($0, $1) }
            return (section.name, (section.isDescending ? sorted.reversed() : sorted).map(\.cell))
        }
    }

    /// All pages of the model: the cells and the sections of each.
    func pages(limit: Int) -> [(cells: [String], sections: [String])] {
        var rest = content.flatMap { section in section.cells.map { (section: section.section, cell: $0) } }[...]
        var begun: Set<String> = []
        var shown = 0
        var pages: [(cells: [String], sections: [String])] = []
        repeat {
            let page = Array(rest.prefix(limit))
            rest = rest.dropFirst(limit)
            var cells: [String] = []
            let names = page.reduce(into: [String]()) { if $0.last != $1.section { $0.append($1.section) } }
            var free = advertisements.count
            for name in names {
                var stretch = page.filter { $0.section == name }.map(\.cell)
                var block: [String] = []
                for _ in 0..<min(perPage, free) {
                    block.append("ad:" + advertisements[shown % advertisements.count])
                    shown += 1
                    free -= 1
                }
                stretch.insert(contentsOf: block, at: stretch.count / 2)
                let hasTitle = sections.contains { $0.name == name && $0.title != nil }
                if begun.insert(name).inserted, hasTitle { stretch.insert("section:" + name, at: 0) }
                cells += stretch
            }
            // An empty feed shows advertisements alone.
            if items.isEmpty { cells = advertisements.prefix(perPage).map { "ad:" + $0 } }
            pages.append((cells, names))
        } while !rest.isEmpty
        return pages
    }
}
