import Foundation
import Logging
import Synchronization
import Testing

@testable import IntertwineFeed
@testable import IntertwineHTTPServer
@testable import IntertwineService

@Suite("Reload of the configuration")
struct ReloadTests {
    private struct Handler: LogHandler {
        let lines: @Sendable (String) -> Void
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines("\(event.message) \(event.metadata?["settings"].map { "\($0)" } ?? "")")
        }
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        func append(_ line: String) { lines.withLock { $0.append(line) } }

        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines.filter { $0.hasPrefix("settings that require a restart") }
            }
        }
    }

    private static func configuration(_ folder: String, _ more: [String: String] = [:]) async throws -> ServiceConfiguration {
        let flags = [
            "store.database": "\(folder)/feed.sqlite", "sources.file": "\(folder)/sources.yaml", "kinds.file": "\(folder)/kinds.yaml",
        ]
        return try ServiceConfiguration(
            try SettingSources(flags: flags.merging(more) { $1 }, environment: [:], file: "\(folder)/empty.yaml"))
    }

    @Test("A reload logs each changed file that requires a restart")
    func files() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func write(_ text: String, to name: String) throws {
            try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        }
        let sources = "sources: {people: {url: https://api.example.com/people, kind: user}}\n"
        try write("", to: "empty.yaml")
        try write(sources, to: "sources.yaml")
        try write(KindsFileTests.event, to: "kinds.yaml")
        let configuration = try await Self.configuration(folder)
        let lines = Lines()
        let logger = Logger(label: "tests") { _ in Handler { lines.append($0) } }
        let live = try FeedService.build(configuration: configuration, logger: logger).live
        try await live.change(to: configuration)
        #expect(lines.take() == [])
        try write(sources.replacing("people:", with: "persons:"), to: "sources.yaml")
        try await live.change(to: configuration)
        #expect(lines.take() == ["settings that require a restart sources.file"])
        try write(KindsFileTests.event.replacing("max: 80", with: "max: 81"), to: "kinds.yaml")
        try await live.change(to: configuration)
        #expect(lines.take() == ["settings that require a restart kinds.file sources.file"])
        // A change of another setting does not read these files.
        try write("kinds: [", to: "kinds.yaml")
        try await live.change(to: Self.configuration(folder, ["ads.per-page": "2"]))
        #expect(live.configuration.feed.adsPerPage == 2)
    }

    @Test("A reload does not report files that are not configured")
    func noFiles() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try "".write(toFile: "\(folder)/empty.yaml", atomically: true, encoding: .utf8)
        let configuration = try ServiceConfiguration(
            try SettingSources(
                flags: ["store.database": "\(folder)/feed.sqlite"], environment: [:], file: "\(folder)/empty.yaml"))
        let lines = Lines()
        let logger = Logger(label: "tests") { _ in Handler { lines.append($0) } }
        let live = try FeedService.build(configuration: configuration, logger: logger).live
        // The current folder of the process has changed now.
        let mark = "\(FileManager.default.currentDirectoryPath)/intertwine-\(UUID())"
        try "".write(toFile: mark, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: mark) }
        try await live.change(to: configuration)
        #expect(lines.take() == [])
    }

    private static func withFolder(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try "".write(toFile: "\(folder)/empty.yaml", atomically: true, encoding: .utf8)
        try await body(folder)
    }

    private static func configuration(in folder: String, _ more: [String: String] = [:]) throws -> ServiceConfiguration {
        let flags = ["store.database": "\(folder)/feed.sqlite"].merging(more) { $1 }
        return try ServiceConfiguration(try SettingSources(flags: flags, environment: [:], file: "\(folder)/empty.yaml"))
    }

    @Test("A reload that fails activates nothing, and one that failed for a passing reason is tried again")
    func failing() async throws {
        try await Self.withFolder { folder in
            let old = try Self.configuration(in: folder)
            let new = try Self.configuration(in: folder, ["ads.per-page": "2"])
            let logger = Logger(label: "tests", factory: { _ in SwiftLogNoOpLogHandler() })
            let service = try FeedService.build(configuration: old, logger: logger)
            let application = service.live.current
            let errors = Mutex<[any Error]>([])
            let activations = Mutex(0)
            let live = try ReloadableApplication(
                old, router: Router([], acceptsOnlyJSON: true, clock: { 0 }, logger: logger), control: service.telemetry.control,
                logger: logger
            ) { _ in
                application
            } check: { _ in
                if let error = errors.withLock({ $0.popLast() }) { throw error }
                return { activations.withLock { $0 += 1 } }
            }
            errors.withLock { $0 = [StoreError.unavailable("for the moment")] }
            await #expect(throws: StoreError.self) { try await live.change(to: new) }
            #expect(activations.withLock { $0 } == 0 && live.configuration.feed.adsPerPage == old.feed.adsPerPage)

            let (hangUps, hangUp) = AsyncStream.makeStream(of: Void.self)
            let source = ConfigurationSource(file: nil) { new }
            let reloader = ConfigurationReloader(source: source, hangUps: hangUps, live: live, logger: logger)
            async let run: Void = reloader.run()
            errors.withLock { $0 = [ConfigurationError("robots: no such file"), StoreError.unavailable("for the moment")] }
            hangUp.yield()
            for _ in 0..<1_000 where activations.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(20)) }
            #expect(activations.withLock { $0 } == 1 && live.configuration.feed.adsPerPage == 2)
            hangUp.finish()
            try await run
            await service.close()
        }
    }

    @Test("An error before the end of the start closes what was opened")
    func failedStart() async throws {
        try await Self.withFolder { folder in
            let other = try ListeningSocket(HTTPServerConfiguration())
            let port = try #require(other.address.description.split(separator: ":").last)
            let configuration = try Self.configuration(in: folder, ["server.port": "\(port)", "admin.enabled": "false"])
            let logger = Logger(label: "tests", factory: { _ in SwiftLogNoOpLogHandler() })
            let service = try FeedService.build(configuration: configuration, logger: logger)
            func unfinished() throws -> [String] {
                try FileManager.default.contentsOfDirectory(atPath: folder).filter { name in
                    let size = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")[.size] as? Int
                    return name.hasSuffix("-wal") && size != 0
                }
            }
            #expect(try !unfinished().isEmpty)
            await #expect(throws: (any Error).self) { try await service.run() }
            // A closed database is one complete file.
            #expect(try unfinished().isEmpty)
            other.close()
        }
    }
}
