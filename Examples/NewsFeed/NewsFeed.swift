import ArgumentParser
import Foundation
import IntertwineService

/// Serves the articles of an HTTP API as a feed with sections. No article is imported.
@main
struct NewsFeed: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "news-feed", abstract: "Serve a sectioned feed over an HTTP API: an example of a data source with items of its own.")

    @Option(help: "SQLite file of the viewers' lists and the events.")
    var database: String

    @Option(help: "Port to listen on.")
    var port = 8080

    @Option(help: "Seconds between two requests for the API's version.")
    var interval = 60.0

    @Argument(help: "URL of the API.")
    var api: String

    func run() async throws {
        guard let base = URL(string: api) else { throw ValidationError("\(api) is no URL") }
        guard interval > 0 else { throw ValidationError("--interval is a positive number of seconds") }
        let (api, version) = (NewsAPI(base: base), ArticleVersion())
        var extensions = ServiceExtensions()
        extensions.add(Article.self, actions: .on(.selection, Analytics()).on("bookmark", Save(), label: "Save"))
        func source(_ section: String) -> ArticleSource { ArticleSource(api: api, section: section, articles: version) }
        extensions.dataSources["main"] = SectionedDataSource([
            FeedSection("world", title: "World", source: source("world")),
            FeedSection("sport", title: "Sport", source: source("sport")),
        ])
        var configuration = ServiceConfiguration()
        configuration.store.database = database
        configuration.server.port = port
        configuration.admin.isEnabled = false

        let service = try FeedService.build(
            configuration: configuration, extensions: extensions, logger: Logger(label: "news-feed"))
        let following = Task { try await version.follow(api, every: .seconds(interval)) }
        defer { following.cancel() }
        try await service.run { addresses in
            print("listening on http://\(addresses["service"] ?? "")")
            fflush(nil)
        }
    }
}
