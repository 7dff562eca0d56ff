// Values and types that the examples of comments take from their context. Tools/doc-examples compiles this file beside the examples of
// each module, with the module's name as a condition. A group imports with `@_exported` if its examples need a module that theirs does
// not import publicly.
import Foundation

func missing<Value>() -> Value { fatalError() }

#if IntertwineFeed
    import IntertwineFeed
    @_exported import IntertwineService
    @_exported import Logging

    var api: ArticleClient { fatalError() }
    var articles: ArrayDataSource { fatalError() }
    var cards: ArrayDataSource { fatalError() }
    var commands: CellCommands { fatalError() }
    var context: CellContext { fatalError() }
    var digest: String { fatalError() }
    nonisolated(unsafe) var extensions: ServiceExtensions = missing()
    nonisolated(unsafe) var factories: CellFactories = missing()
    var fields: ItemFields { fatalError() }
    var item: FeedItem { fatalError() }
    var items: [FeedItem] { fatalError() }
    var logger: Logger { fatalError() }
    var now: Int64 { fatalError() }
    var response: [UInt8] { fatalError() }
    var snapshot: any FeedSnapshot { fatalError() }
    var subject: CommandSubject { fatalError() }
    var viewModel: CellViewModel { fatalError() }
    var votes: Votes { fatalError() }

    struct Article: Codable {
        var id: String
        var published: Int64
    }

    struct ArticleClient {
        func articles(olderThan time: Int64?, count: Int) async throws -> [Article] { fatalError() }
        func article(_ id: String) async throws -> Article? { fatalError() }
    }

    struct BannerCellFactory: CellViewModelFactory {
        let identifier = "BannerCollectionViewCell"

        func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel { fatalError() }
    }

    struct Like: Command {
        let name = "like"

        func perform(in context: inout CommandContext) async throws {}
    }

    struct MuteCommand: Command {
        let name = "mute"

        func perform(in context: inout CommandContext) async throws {}
    }

    struct NoteCellFactory: CellViewModelFactory {
        let identifier = "NoteCollectionViewCell"
        let commands: CellCommands

        func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel { fatalError() }
    }

    struct NoteKind: ItemKind {
        let name = "note"
        let stream = StreamID.content

        func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem { fatalError() }
    }

    struct Pin: Command {
        let name = "pin"

        func perform(in context: inout CommandContext) async throws {}
    }

    struct RecipeKind: ItemKind {
        let name = "recipe"
        let stream = StreamID.content

        func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem { fatalError() }
    }

    struct Votes {
        func add(_ cell: String) async throws -> Bool { fatalError() }
    }
#endif

#if IntertwineHTTPServer
    import IntertwineHTTPServer

    var handler: any HTTPHandler { fatalError() }
    var owner: any AnyObject & Sendable { fatalError() }

#endif

#if IntertwineService
    @_exported import CoreMetrics
    @_exported import IntertwineFeed
    @_exported import IntertwinePrimitives
    import IntertwineService
    @_exported import Logging

    var configuration: ServiceConfiguration { fatalError() }
    var context: RouteContext { fatalError() }
    nonisolated(unsafe) var extensions: ServiceExtensions = missing()
    var item: FeedItem { fatalError() }
    var logger: Logger { fatalError() }
    var now: Int64 { fatalError() }
    var orders: ServiceRoute { fatalError() }
    var picture: URL? { fatalError() }
    var portions: Int { fatalError() }
    var ratings: Ratings { fatalError() }
    var stock: ServiceRoute { fatalError() }
    var text: String { fatalError() }
    var title: String { fatalError() }
    var token: String { fatalError() }
    var website: URL { fatalError() }

    struct Card: ItemContent {
        static let kind = "card"

        var text: String

        func cell(in context: CellContext) -> Cell { fatalError() }
    }

    struct Like: Command {
        let name = "like"

        func perform(in context: inout CommandContext) async throws {}
    }

    struct Ratings {
        func add(_ stars: Int, for cell: String) async throws {}
    }

    struct TokenGate: ServiceMiddleware {
        func handle(_ head: borrowing RequestHead, peer: PeerAddress, route: String?, next: any HTTPHandler) -> HandlerResult {
            fatalError()
        }
    }
#endif

#if IntertwineTesting
    import IntertwineService
    import IntertwineTesting
    @_exported import Testing

    var extensions: ServiceExtensions { fatalError() }
    var recipes: String { fatalError() }
    var service: TestService { fatalError() }
    var token: String { fatalError() }
#endif
