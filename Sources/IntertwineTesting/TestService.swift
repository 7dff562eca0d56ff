internal import Foundation
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
public import IntertwineService
internal import IntertwineStorage
internal import Synchronization

/// A complete service in a test process, with items, the program's extensions and a clock that the test controls.
///
/// ```swift
/// try await TestService.run(items: recipes, extensions: extensions) { service in
///     let page = try await service.client.get("/feed", fields: ["X-Viewer-ID": "ann"])
///     #expect(page.status == 200 && page.text.contains("recipe:ramen"))
/// }
/// ```
///
/// Its data is in a temporary folder, which is removed when the service stops.
public final class TestService: Sendable {
    /// The transport between client and service.
    public enum Transport: Sendable, Hashable, CaseIterable {
        /// In memory, without a socket and without the HTTP server's own functions: limits, conditions, ranges, codings and HTTP fields.
        /// Background work, such as polling sources, does not run.
        case memory
        /// Free ports of 127.0.0.1, with all functions of a service in operation.
        case socket
    }

    /// The client of the public listener.
    public let client: TestClient
    /// The client of the admin listener; every request fails if `admin.enabled` is false.
    public let operators: TestClient
    /// The time of day for the service. Log lines have the machine's own time.
    public let clock: TestClock
    /// The port of the public listener; 0 in memory.
    public let port: UInt16
    /// The port of the admin listener; 0 in memory, and if the listener is disabled.
    public let operatorPort: UInt16
    /// The log of the service.
    public let log: TestLog
    /// The path of the service's data until it stops.
    public let folder: String
    private let end: @Sendable () async -> Void

    /// Imports the items and starts the service.
    ///
    /// ```swift
    /// let service = try await TestService(.socket, settings: ["feed.max-age": "30s"])
    /// let page = try await service.client.get("/feed")
    /// await service.stop()
    /// ```
    ///
    /// - Parameters:
    ///   - items: Lines of the import format; ``lines(of:)`` makes them from values.
    ///   - settings: Settings by key, as in `intertwine.yaml`.
    ///   - extensions: The program's extensions; `clock` replaces their clock.
    /// - Throws: The errors of `ServiceConfiguration` and `FeedService`.
    public init(
        _ way: Transport = .memory, items: String = "", settings: [String: String] = [:],
        extensions: ServiceExtensions = ServiceExtensions(),
        clock: TestClock = TestClock()
    ) async throws {
        let folder = NSTemporaryDirectory() + "intertwine-\(UUID())"
        let log = TestLog()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        do {
            let service = try await Self.build(items, settings, extensions, clock, log, in: folder)
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
        (self.folder, self.clock, self.log) = (folder, clock, log)
    }

    /// Stops the service and removes its folder. Call it once, after the last request.
    public func stop() async {
        await end()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Starts a service, runs the body and stops the service, also after an error.
    ///
    /// The parameters are those of ``init(_:items:settings:extensions:clock:)``.
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

    /// Encodes values as lines of the import format.
    ///
    /// ```swift
    /// let jane = ["kind": "user", "id": "jane", "name": "Jane", "avatarUrl": "https://example.com/jane.png"]
    /// let items = try TestService.lines(of: [jane])
    /// ```
    public static func lines(of values: [any Encodable]) throws -> String {
        let encoder = JSONEncoder()
        return try values.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }.joined()
    }

    private static func build(
        _ items: String, _ settings: [String: String], _ extensions: ServiceExtensions, _ clock: TestClock, _ log: TestLog,
        in folder: String
    ) async throws -> FeedService {
        let flags = ["store.database": "\(folder)/items.sqlite", "server.port": "0", "admin.port": "0", "log.requests": "false"]
        let sources = try SettingSources(flags: flags.merging(settings) { $1 }, environment: [:])
        let configuration = try ServiceConfiguration(sources)
        try configuration.importItems(Array(items.utf8), extensions)
        var extensions = extensions
        extensions.clock = { clock.now }
        return try FeedService.build(configuration: configuration, extensions: extensions, logger: log.logger)
    }

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
    fileprivate static var none: TestClient { TestClient { _, _ in throw TestServiceError.noListener } }
}

/// A clock whose time changes only if the test moves it.
///
/// ```swift
/// let clock = TestClock(1_750_000_000_000)
/// clock.advance(by: .seconds(60))
/// clock.now  // 1_750_000_060_000
/// ```
public final class TestClock: Sendable {
    private let milliseconds: Atomic<Int64>

    /// Creates a clock.
    ///
    /// - Parameter now: The milliseconds since 1970-01-01 UTC; nil takes the machine's time.
    public init(_ now: Int64? = nil) {
        milliseconds = Atomic(now ?? WallClock.now())
    }

    /// The time in milliseconds since 1970-01-01 UTC.
    public var now: Int64 { milliseconds.load(ordering: .relaxed) }

    /// Moves the clock forward, or back by a negative duration.
    public func advance(by duration: Duration) {
        milliseconds.wrappingAdd(duration.milliseconds, ordering: .relaxed)
    }
}
