import Foundation
import IntertwineService
import IntertwineStorage
import Logging

/// The whole service in this process, as it is delivered but for its lines in the log, with a feed of two pages.
enum FeedProbe {
    /// The origin whose pages may use the service.
    static let origin = "https://app.example.com"

    /// - Parameter body: gets the port, and is over before the service ends.
    static func run(_ body: @escaping @Sendable (UInt16) async -> Bool) async throws -> Bool {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let database = folder.appendingPathComponent("items.sqlite").path
        let users = (0..<40).map {
            #"{"kind":"user","id":"\#($0)","username":"User \#($0)","avatarUrl":"https://example.com/\#($0).png","type":"regular"}"#
        }
        let session = try ItemImport(into: database)
        try session.append(Array(users.joined(separator: "\n").utf8))
        try session.endOfFile()
        _ = try session.commit()
        let sources = try SettingSources(
            flags: [
                "store.database": database, "server.port": "0", "admin.port": "0", "log.requests": "false",
                "limits.requests-per-connection": "2000000000", "cors.origins": origin,
            ], environment: [:])
        let service = try FeedService.build(
            configuration: ServiceConfiguration(sources), logger: Logger(label: "probe") { _ in SwiftLogNoOpLogHandler() })
        let (ports, port) = AsyncStream.makeStream(of: UInt16.self)
        let serving = Task {
            try await service.run { addresses in
                port.yield(addresses["service"]?.split(separator: ":").last.flatMap { UInt16($0) } ?? 0)
                port.finish()
            }
        }
        var result = false
        for await port in ports { result = await body(port) }
        serving.cancel()
        _ = await serving.result
        return result
    }
}
