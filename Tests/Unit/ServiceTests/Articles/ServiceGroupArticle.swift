// The imports of the article follow.
// swift-format-ignore-file: OrderedImports
@testable import ExtensionProbe

// article: ServiceGroups
import IntertwineService
import ServiceLifecycle

/// Returns a group with the feed and other services, which stop after it.
func group(_ others: [any Service], database: String, port: Int) throws -> ServiceGroup {
    var configuration = ServiceConfiguration()
    configuration.store.database = database
    configuration.server.port = port
    configuration.admin.isEnabled = false
    let logger = Logger(label: "feed")
    let feed = try FeedService.build(configuration: configuration, extensions: cards, logger: logger)
    let services: [ServiceGroupConfiguration.ServiceConfiguration] =
        others.map { .init(service: $0) } + [.init(service: feed, successTerminationBehavior: .gracefullyShutdownGroup)]
    return ServiceGroup(configuration: .init(services: services, logger: logger))
}
// article: end
