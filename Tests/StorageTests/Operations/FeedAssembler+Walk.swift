import Feed
import Logging
import Storage

extension FeedAssembler {
    static let now: Int64 = 1_767_227_400_000

    /// Everything at its default, over a real store.
    static func standard(over store: SQLiteStore) throws -> FeedAssembler {
        let keys = SigningKeys(current: try SigningKey(Array(repeating: 7, count: 32)))
        return FeedAssembler(
            store: store, factories: try CellFactories.standard(CellConfiguration(), commands: .standard), keys: keys,
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
