// article: Embedding
import IntertwineService

/// Serves the items of a file.
func serve(_ items: [UInt8], from database: String, started: @escaping @Sendable (String) -> Void) async throws {
    var configuration = ServiceConfiguration()
    configuration.store.database = database
    configuration.server.port = 0  // Any free port.
    configuration.admin.isEnabled = false  // No operators' listener.

    try configuration.importItems(items)

    let service = try FeedService.build(configuration: configuration, logger: Logger(label: "feed"))
    try await service.run { addresses in started(addresses["service"] ?? "") }
}
// article: end
