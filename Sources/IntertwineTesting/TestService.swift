internal import Foundation
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
public import IntertwineService
internal import IntertwineStorage
internal import Logging
internal import Synchronization

/// The whole service in the process of a test, with items, with what a program adds to it, and with a clock that the test owns.
///
///     try await TestService.run(items: recipes, extensions: extensions) { service in
///         let page = try await service.client.get("/feed", fields: ["X-Viewer-ID": "ann"])
///         #expect(page.status == 200 && page.text.contains("recipe:ramen"))
///     }
///
/// Its data is in a temporary folder, which goes when it stops.
public final class TestService: Sendable {
    /// How it is asked.
    public enum Transport: Sendable, Hashable, CaseIterable {
        /// Without a socket. What is the HTTP server's own is left out: limits, conditions, ranges, codings, HTTP's own fields. Nothing goes on
        /// beside requests, such as polling sources.
        case memory
        /// On free ports of 127.0.0.1, with everything that a service in operation does.
        case socket
    }

    /// Asks the public listener.
    public let client: TestClient
    /// Asks the operators' listener; every request fails where `admin.enabled` is false.
    public let operators: TestClient
    /// The service's time of day, from which only the log's lines keep apart.
    public let clock: TestClock
    /// Of the public listener; 0 in memory.
    public let port: UInt16
    /// Of the operators' listener; 0 in memory, and where there is none.
    public let operatorPort: UInt16
    /// Where its data is, until it stops.
    public let folder: String
    private let end: @Sendable () async -> Void

    /// Imports the items, and starts.
    ///
    /// - Parameters:
    ///   - items: lines of the import format; ``lines(of:)`` makes them of values.
    ///   - settings: by their keys, as in `intertwine.yaml`.
    ///   - extensions: their clock gives way to `clock`.
    /// - Throws: as `ItemImport`, `ServiceConfiguration` and `FeedService` do.
    public init(
        _ way: Transport = .memory, items: String = "", settings: [String: String] = [:],
        extensions: ServiceExtensions = ServiceExtensions(),
        clock: TestClock = TestClock()
    ) async throws {
        let folder = NSTemporaryDirectory() + "intertwine-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        do {
            let service = try await Self.build(items, settings, extensions, clock, in: folder)
            switch way {
            case .memory:
                try service.prepare()
                client = TestClient(service.publicHandler)
                operators = service.operatorHandler.map { TestClient($0) } ?? .none
                (port, operatorPort, end) = (0, 0, service.close)
            case .socket:
                let (ports, serving) = try await Self.run(service)
                (port, operatorPort) = (ports["service"] ?? 0, ports["admin"] ?? 0)
                client = TestClient(port: port)
                operators = operatorPort == 0 ? .none : TestClient(port: operatorPort)
                end = {
                    serving.cancel()
                    _ = await serving.result
                }
            }
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
        (self.folder, self.clock) = (folder, clock)
    }

    /// Ends it, and removes its folder. Called once, and nothing is asked afterwards.
    public func stop() async {
        await end()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Starts it, has it used, and stops it, whatever the use throws. The parameters are those of ``init(_:items:settings:extensions:clock:)``.
    public static func run<Result: Sendable>(
        _ way: Transport = .memory, items: String = "", settings: [String: String] = [:],
        extensions: ServiceExtensions = ServiceExtensions(),
        clock: TestClock = TestClock(), _ body: @Sendable (TestService) async throws -> Result
    ) async throws -> Result {
        let service = try await TestService(way, items: items, settings: settings, extensions: extensions, clock: clock)
        do {
            let result = try await body(service)
            await service.stop()
            return result
        } catch {
            await service.stop()
            throw error
        }
    }

    /// Values as lines of the import format.
    public static func lines(of values: [any Encodable]) throws -> String {
        let encoder = JSONEncoder()
        return try values.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }.joined()
    }

    private static func build(
        _ items: String, _ settings: [String: String], _ extensions: ServiceExtensions, _ clock: TestClock, in folder: String
    ) async throws -> FeedService {
        let flags = ["store.database": "\(folder)/items.sqlite", "server.port": "0", "admin.port": "0", "log.requests": "false"]
        let sources = try await SettingSources(flags: flags.merging(settings) { $1 }, environment: [:])
        let configuration = try ServiceConfiguration(sources)
        let session = try ItemImport(into: configuration.store.database, kinds: try configuration.itemKinds(extensions))
        try session.append(Array(items.utf8))
        try session.endOfFile()
        _ = try session.commit()
        var extensions = extensions
        extensions.clock = { clock.now }
        return try FeedService.build(
            configuration: configuration, extensions: extensions, logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
    }

    /// - Returns: the listeners' ports by their names, and what ends when the service has ended.
    private static func run(_ service: FeedService) async throws -> ([String: UInt16], Task<Void, any Error>) {
        let (started, start) = AsyncStream.makeStream(of: [String: String].self)
        let serving = Task {
            defer { start.finish() }
            try await service.run { addresses in
                start.yield(addresses)
                start.finish()
            }
        }
        for await addresses in started {
            return (addresses.compactMapValues { $0.split(separator: ":").last.flatMap { UInt16($0) } }, serving)
        }
        try await serving.value
        throw TestServiceError.noListener
    }
}

extension TestClient {
    /// Asks nobody.
    fileprivate static var none: TestClient { TestClient { _, _ in throw TestServiceError.noListener } }
}

/// A time of day that stands still until the test moves it.
public final class TestClock: Sendable {
    private let milliseconds: Atomic<Int64>

    /// - Parameter now: milliseconds since 1970-01-01 UTC; the machine's own time where nil.
    public init(_ now: Int64? = nil) {
        milliseconds = Atomic(now ?? WallClock.now())
    }

    /// Milliseconds since 1970-01-01 UTC.
    public var now: Int64 { milliseconds.load(ordering: .relaxed) }

    /// Moves it on, or back by a negative duration.
    public func advance(by duration: Duration) {
        milliseconds.wrappingAdd(duration.milliseconds, ordering: .relaxed)
    }
}
