import Foundation
import IntertwineService
import Synchronization

/// An article as an item of the feed: its fields and its cell.
struct Article: ItemContent {
    static let kind = "article"

    var title: String
    var picture: URL?

    func cell(in context: CellContext) -> Cell {
        Cell("ArticleCollectionViewCell", size: CellSize(width: 300, height: 240)) {
            Bind("title", title)
            Bind("picture", image: picture)
        }
    }
}

/// The version of the API's articles, which all sections share.
final class ArticleVersion: Sendable {
    private let number = Atomic<UInt64>(0)

    var current: UInt64 { number.load(ordering: .relaxed) }

    /// Asks the API for changes until the task is cancelled. An API that does not respond leaves the version unchanged.
    func follow(_ api: NewsAPI, every interval: Duration) async throws {
        while !Task.isCancelled {
            if let version = try? await api.version() { number.store(version, ordering: .relaxed) }
            try await Task.sleep(for: interval)
        }
    }
}

/// One section of the newspaper, in the order of its positions.
struct ArticleSource: DataSource {
    let api: NewsAPI
    let section: String
    let articles: ArticleVersion
    let isNewestFirst = false

    var version: UInt64 { articles.current }

    func items(after position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem] {
        try await api.articles(in: section, after: position, limit: limit).map(item)
    }

    func item(id: String, for context: FeedContext) async throws -> FeedItem? { try await api.article(id).map(item) }

    private func item(_ article: NewsAPI.Article) throws -> FeedItem {
        try FeedItem(Article(title: article.title, picture: article.picture), id: article.id, position: article.position)
    }
}
