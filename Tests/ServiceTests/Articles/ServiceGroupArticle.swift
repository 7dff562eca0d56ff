// article: ServiceGroups
import IntertwineService
import ServiceLifecycle

/// The feed as a service of a `ServiceGroup`.
struct FeedRunner: Service {
    let feed: FeedService
    let started: @Sendable (_ addresses: [String: String]) -> Void

    func run() async throws {
        try await cancelWhenGracefulShutdown { try await feed.run(started: started) }
    }
}

/// Returns a group with the feed and other services, which stop after it.
func group(
    _ others: [any Service], database: String, started: @escaping @Sendable (_ addresses: [String: String]) -> Void
) throws -> ServiceGroup {
    var configuration = ServiceConfiguration()
    configuration.store.database = database
    configuration.server.port = 0
    configuration.admin.isEnabled = false
    let logger = Logger(label: "feed")
    let feed = try FeedService.build(configuration: configuration, extensions: cards, logger: logger)
    let services = others + [FeedRunner(feed: feed, started: started)]
    return ServiceGroup(
        configuration: .init(services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
}
// article: end
