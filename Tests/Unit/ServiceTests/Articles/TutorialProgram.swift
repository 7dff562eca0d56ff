// article: embed
import IntertwineService

/// Serves the feed in `database`, until the process is told to stop.
func serve(_ database: String, port: Int) async throws {
    var configuration = ServiceConfiguration()
    configuration.store.database = database
    configuration.server.port = port
    configuration.admin.isEnabled = false
    let service = try FeedService.build(configuration: configuration, logger: Logger(label: "feed"))
    try await service.run()
}
// article: end
