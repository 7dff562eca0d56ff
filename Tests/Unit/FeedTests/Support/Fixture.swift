import Logging
import Testing

@testable import IntertwineFeed

/// A feed over an in-memory store with default settings.
struct Fixture: Sendable {
    /// 2026-01-01T00:30:00Z, in the middle of an hour.
    static let now: Int64 = 1_767_227_400_000

    let store = MemoryStore()
    let ledger = MemoryLedger()
    var cells = RenderedCellCache()
    var keys: SigningKeys
    var tokens: CellTokens
    var factories: CellFactories
    var registry: CommandRegistry
    var placement: any AdPlacement
    var links: Links
    var source: any DataSource = FlatDataSource()
    var ranking: FeedRanking?

    /// The standard cells without media cells: the feed has no cell for video and audio items.
    static var images: CellConfiguration {
        var configuration = CellConfiguration()
        configuration.mediaCells = [:]
        return configuration
    }

    init(
        users: Int = 0, advertisements: Int = 0, placement: any AdPlacement = MidpointPlacement(), keyByte: UInt8 = 7,
        configuration: CellConfiguration = Fixture.images, registry: CommandRegistry = .standard, links: Links = Links()
    ) throws {
        keys = SigningKeys(current: try SigningKey(Array(repeating: keyByte, count: 32)))
        tokens = CellTokens(keys: keys)
        self.registry = registry
        factories = try CellFactories.standard(configuration, commands: registry)
        self.placement = placement
        self.links = links
        for index in 0..<users { store.put(Self.user("u\(index)", at: Int64(index + 1) * 1000)) }
        for index in 0..<advertisements { store.put(Self.advertisement("\(index)", at: Int64(index + 1) * 1000), in: .advertisements) }
    }

    func assembler(name: String = "feed") -> FeedAssembler {
        FeedAssembler(
            name: name, store: store, source: source, factories: factories, cells: cells, placement: placement,
            ranking: ranking, keys: keys, links: links, tokens: tokens,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    func performer() -> ActionPerformer {
        ActionPerformer(
            store: store, ledger: ledger, factories: factories, registry: registry, links: links, tokens: tokens, undoWindow: 600_000)
    }

    func page(_ cursor: String? = nil, limit: Int = 20, hidden: Set<ByteString> = []) async throws -> FeedPage {
        try await assembler().page(
            FeedRequest(cursor: cursor, limit: limit, now: Self.now),
            for: hidden.isEmpty ? PageClient() : .viewer(hiding: hidden))
    }

    /// The view model of an entry, created again.
    func viewModel(of entry: FeedPage.Entry?, hasViewer: Bool = false, layout: CellLayout = .collection, width: Int? = nil) throws
        -> CellViewModel
    {
        let entry = try #require(entry)
        let context = CellContext(
            links: links, tokens: tokens, now: Self.now, hasViewer: hasViewer, slot: entry.adSlot ?? 0, layout: layout, width: width)
        return try factories.makeViewModel(for: entry.cell.item, in: context)
    }

    /// All pages from the first, or from a cursor, along `next`.
    func walk(from cursor: String? = nil, limit: Int) async throws -> [FeedPage] {
        var pages = [try await page(cursor, limit: limit)]
        while let href = pages.last?.next, pages.count < 10_000 {
            pages.append(try await page(Self.cursor(in: href), limit: limit))
        }
        return pages
    }

    static func cursor(in href: String) -> String? {
        href.split(separator: "cursor=").last?.split(separator: "&").first.map(String.init)
    }

    static func user(_ id: String, at position: Int64, variant: String = "regular", name: String? = nil, background: String? = nil)
        -> FeedItem
    {
        let background = background.map { #","backgroundUrl":"\#($0)""# } ?? ""
        let body =
            #"{"kind":"user","id":"\#(id)","username":"\#(name ?? id)","avatarUrl":"https://img.example/\#(id).png"\#(background),"#
            + #""type":"\#(variant)"}"#
        return FeedItem(kind: "user", id: id, variant: variant, position: position, body: Array(body.utf8))
    }

    static func advertisement(_ id: String, at position: Int64, variant: String = "image", house: Bool = true) -> FeedItem {
        let body =
            #"{\#(house ? "" : "\"house\":false,")"kind":"ad","id":"\#(id)","contentUrl":"https://ads.example/\#(id).png","#
            + #""clickthroughUrl":"https://shop.example/\#(id)","type":"\#(variant)"}"#
        return FeedItem(kind: "ad", id: id, variant: variant, position: position, body: Array(body.utf8))
    }

    static func broken(_ id: String, at position: Int64) -> FeedItem {
        FeedItem(kind: "user", id: id, variant: "regular", position: position, body: Array(#"{"username":3}"#.utf8))
    }
}

extension FeedPage {
    var ids: [String] { entries.map(\.cell.id) }
    var contentIDs: [String] { ids.filter { $0.hasPrefix("user:") } }
    var adIDs: [String] { ids.filter { $0.hasPrefix("ad:") } }
}
