import Logging

@testable import IntertwineFeed
@testable import IntertwineStorage

extension FeedAssembler {
    static let now: Int64 = 1_767_227_400_000

    /// Everything at its default, over a real store.
    ///
    /// - Parameter kinds: which have a cell, too, that shows their ids alone.
    static func standard(
        over store: any FeedStore, source: any DataSource = FlatDataSource(), kinds: [String] = ["event"],
        placement: any AdPlacement = MidpointPlacement()
    ) throws -> FeedAssembler {
        let keys = SigningKeys(current: try SigningKey(Array(repeating: 7, count: 32)))
        var factories = try CellFactories.standard(CellConfiguration(), commands: .standard)
        for kind in kinds { try factories.register(PlainFactory(), for: ItemType(kind: kind, variant: ""), prefix: kind) }
        return FeedAssembler(
            store: store, source: source, factories: factories, placement: placement, keys: keys,
            tokens: CellTokens(keys: keys), logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    /// So many pages from the first, along `next`, or all.
    func walk(limit: Int, pages count: Int = .max) async throws -> [FeedPage] {
        var pages: [FeedPage] = []
        var cursor: String?
        repeat {
            pages.append(try await page(cursor, limit: limit))
            cursor = pages.last?.next.flatMap(Self.cursor)
        } while cursor != nil && pages.count < count
        return pages
    }

    func page(_ cursor: String?, limit: Int) async throws -> FeedPage {
        try await page(FeedRequest(cursor: cursor, limit: limit, now: Self.now, followsChanges: true))
    }

    static func cursor(in href: String) -> String? {
        href.split(separator: "cursor=").last?.split(separator: "&").first.map(String.init)
    }
}

private struct PlainFactory: CellViewModelFactory {
    let identifier = "PlainCell"

    func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
        CellViewModel(
            identifier: identifier, size: CellSize(width: 1, height: 1), commands: [:],
            subject: CommandSubject(cell: cell, item: item, context: context))
    }
}
