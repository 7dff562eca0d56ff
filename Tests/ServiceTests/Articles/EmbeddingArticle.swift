// article: Embedding
import IntertwineService

/// Serves the items of a file.
func serve(_ items: [UInt8], from database: String, started: @escaping @Sendable (String) -> Void) async throws {
    var configuration = ServiceConfiguration()
    configuration.store.database = database
    configuration.server.port = 0  // Any free port.
    configuration.admin.isEnabled = false  // No operators' listener.

    let importer = try ItemImport(into: database, kinds: try configuration.itemKinds())
    try importer.append(items)
    try importer.endOfFile()
    _ = try importer.commit()

    let service = try FeedService.build(configuration: configuration, logger: Logger(label: "feed"))
    try await service.run { addresses in started(addresses["service"] ?? "") }
}
// article: end
