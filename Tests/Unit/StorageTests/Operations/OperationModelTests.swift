import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Store operations, compared with arrays")
struct OperationModelTests {
    private static let limit = 5

    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    @Test("Feed, sections and client state equal those of arrays after any sequence", arguments: StoreKind.seeds(150))
    func sequences(kind: StoreKind, seed: Int) async throws {
        let store = try scratch.store(kind)
        let lanes = try store.arrange([SectionConfiguration("events", kinds: ["event"])])
        var random = SeededRandom(seed: UInt64(seed))
        var model = ArrayModel(homes: ["user": "main", "ad": "advertisements", "event": "events"])
        let sections = sections(seed, lanes)
        let assembler = try FeedAssembler.standard(
            over: store, source: sections.map { SectionedDataSource($0, showsAdsAlone: true) } ?? FlatDataSource())
        var held = try await assembler.walk(limit: Self.limit, pages: 3)
        for round in 0..<9 {
            let count = round == 0 ? 25 : Int.random(in: 1...6, using: &random)
            let (operations, next, fault) = try Self.operations(count, &random, model)
            do {
                _ = try await store.apply(operations)
                #expect(fault == nil)
                model = next
            } catch let error as StoreOperationError {
                #expect(error.index == fault)
            }
            try await compare(store, lanes, model)
            let expected = Self.pages(model, sections)
            let fresh = try await assembler.walk(limit: Self.limit)
            #expect(fresh.map(Self.cells) == expected)
            held = try await follow(assembler, held, fresh: fresh)
            if held.count < 3 { held = Array(fresh.prefix(3)) }
        }
    }

    /// Applies what the service tells to what a client holds: it must then hold what a fresh walk finds.
    private func follow(_ assembler: FeedAssembler, _ held: [FeedPage], fresh: [FeedPage]) async throws -> [FeedPage] {
        let request = FeedRequest(now: FeedAssembler.now)
        guard case .changed(let changed) = try await assembler.changes(since: held.compactMap(\.syncToken), request) else {
            Issue.record("must not reload")
            return held
        }
        let wanted = fresh.prefix(held.count).map { $0 }
        let changes = changed.changes
        var cells = held.flatMap(Self.cells)
        let old = cells
        let new = wanted.flatMap(Self.cells)
        for index in (changes.removed + changes.moved.map(\.from)).sorted(by: >) { cells.remove(at: index) }
        let placed = changes.inserted.map { ($0, new[$0]) } + changes.moved.map { ($0.to, old[$0.from]) }
        for (index, cell) in placed.sorted(by: { $0.0 < $1.0 }) { cells.insert(cell, at: index) }
        for index in changes.reconfigured { cells[index] = new[index] }
        #expect(cells == new)
        #expect(changed.pages.map { $0.json() } == wanted.map { $0.json() })
        return changed.pages
    }

    private func compare(_ store: any ItemStore, _ lanes: [String: StreamID], _ model: ArrayModel) async throws {
        for (name, items) in model.sections {
            let lane = name == "advertisements" ? .advertisements : try #require(lanes[name])
            let stored = try await store.read { try $0.items(in: lane, .forward, of: nil, limit: 1_000) }
            let items = items.filter { !$0.isScheduled }
            #expect(stored.map { "\($0.kind) \($0.id) \($0.variant)" } == items.map { "\($0.kind) \($0.id) \($0.variant)" })
            #expect(stored.map(\.body) == items.map(\.body))
        }
    }

    /// None for a feed without sections, or those of one with two, in different orders.
    private func sections(_ seed: Int, _ lanes: [String: StreamID]) -> [FeedSection]? {
        guard seed % 3 > 0, let events = lanes["events"] else { return nil }
        let people = FeedSection("main", title: "People", stream: .content)
        return seed % 3 == 1
            ? [people, FeedSection("events", stream: events, order: .newest)] : [FeedSection("events", stream: events), people]
    }

    /// What the arrays make of a feed: so many items a page, and in the middle of each stretch an advertisement, taken in turn.
    private static func pages(_ model: ArrayModel, _ sections: [FeedSection]?) -> [[String]] {
        let ads = (model.sections["advertisements"] ?? []).filter { !$0.isScheduled }.map { "ad:\($0.id) false" }
        var rest = (sections ?? [FeedSection("main", stream: .content)]).flatMap { section in
            let items = (section.name.flatMap { model.sections[$0] } ?? []).filter { !$0.isScheduled }
            return (section.order.isDescending ? items.reversed() : items).map { (section: section, item: $0) }
        }[...]
        var begun: Set<String> = []
        var taken = 0
        var pages: [[String]] = []
        repeat {
            let page = rest.prefix(limit)
            rest = rest.dropFirst(limit)
            var free = ads.count
            var cells: [String] = []
            func stretch(_ items: [String]) {
                cells += items.prefix(items.count / 2)
                if free > 0 { cells.append(ads[taken % ads.count]) }
                taken += min(free, 1)
                free = max(0, free - 1)
                cells += items.dropFirst(items.count / 2)
            }
            for section in sections ?? [] where page.contains(where: { $0.section.name == section.name }) {
                if let name = section.name, begun.insert(name).inserted, section.title != nil { cells.append("section:\(name) false") }
                stretch(page.filter { $0.section.name == section.name }.map { Self.cell($0.item) })
            }
            // Sections without any item leave the advertisements alone.
            if sections == nil || page.isEmpty { stretch(page.map { Self.cell($0.item) }) }
            pages.append(cells)
        } while !rest.isEmpty
        return pages
    }

    private static func cell(_ item: ValidatedItem) -> String { "\(item.kind):\(item.id) \(item.variant == "featured")" }

    private static func cells(_ page: FeedPage) -> [String] {
        page.entries.map { "\($0.cell.id) \($0.cell.identifier == "CircularUserCollectionViewCell")" }
    }

    /// Some operations, what the arrays are after them, and the first that cannot be done, where there is one: in every fourth list or so.
    private static func operations(
        _ count: Int, _ random: inout SeededRandom, _ model: ArrayModel
    ) throws -> (operations: [StoreOperation], model: ArrayModel, fault: Int?) {
        var model = model
        var operations: [StoreOperation] = []
        var fault: Int?
        let mayFail = Int.random(in: 0..<4, using: &random) == 0
        for index in 0..<count {
            var operation = try operation(&random)
            while fault == nil, model.apply(operation) == nil {
                if mayFail { fault = index } else { operation = try Self.operation(&random) }
            }
            operations.append(operation)
        }
        return (operations, model, fault)
    }

    /// Among few ids, so that many operations meet an item that is there, and many one that is not.
    private static func operation(_ random: inout SeededRandom) throws -> StoreOperation {
        let kind = ["user", "user", "user", "ad", "event"].randomElement(using: &random) ?? "user"
        let key = { (random: inout SeededRandom) in ItemKey(kind: kind, id: "\(Int.random(in: 0..<18, using: &random))") }
        let item = { (random: inout SeededRandom) throws in
            let variant = kind == "user" ? ["regular", "featured"] : kind == "event" ? [""] : ["image", "image", "video"]
            var item = try Self.item(key(&random), variant.randomElement(using: &random) ?? "")
            // Drafts keep their places among the others.
            if Int.random(in: 0..<5, using: &random) == 0 { item.body = Array(#"{"draft":true,"#.utf8) + item.body.dropFirst() }
            return item
        }
        let place = { (random: inout SeededRandom) in
            Bool.random(using: &random) ? StoreOperation.Position.before(key(&random)) : .after(key(&random))
        }
        return switch Int.random(in: 0..<60, using: &random) {
        case 0..<10, 39..<60: .append(try item(&random))
        case 10..<18: .insert(try item(&random), place(&random))
        case 18..<27: .move(key(&random), place(&random))
        case 27..<33: .update(try item(&random))
        case 33..<38: .remove(key(&random))
        default: .clear(section: ["main", "advertisements", "events"].randomElement(using: &random) ?? "main")
        }
    }

    private static func item(_ key: ItemKey, _ variant: String) throws -> ValidatedItem {
        switch key.kind {
        case "user": try user(key.id, variant: variant)
        case "ad": try advertisement(key.id, variant: variant)
        default: ValidatedItem(kind: key.kind, stream: .content, id: key.id, variant: variant, body: Array(#"{"title":"\#(key.id)"}"#.utf8))
        }
    }
}
