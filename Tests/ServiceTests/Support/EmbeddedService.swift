import Foundation
import IntertwineFeed
import IntertwineStorage
import Logging
import Synchronization
import TestSupport

@testable import IntertwineService

/// The whole service in this process, on real sockets, with a feed and with what a program adds to it.
final class EmbeddedService: Sendable {
    let port: UInt16
    private let adminPort: UInt16
    private let folder: String
    private let serving: Task<Void, any Error>

    /// - Parameter items: NDJSON to import first.
    init(items: String, settings: [String: String] = [:], extensions: ServiceExtensions = ServiceExtensions()) async throws {
        folder = NSTemporaryDirectory() + "intertwine-\(UUID())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let database = "\(folder)/items.sqlite"
        let session = try ItemImport(into: database)
        try session.append(Array(items.utf8))
        try session.endOfFile()
        _ = try session.commit()
        let flags = ["store.database": database, "server.port": "0", "admin.port": "0", "log.requests": "false"]
        let service = try FeedService.build(
            configuration: ServiceConfiguration(try await SettingSources(flags: flags.merging(settings) { $1 }, environment: [:])),
            extensions: extensions, logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() })
        let (started, start) = AsyncStream.makeStream(of: [String: String].self)
        serving = Task {
            try await service.run { addresses in
                start.yield(addresses)
                start.finish()
            }
        }
        var ports: [String: UInt16] = [:]
        for await addresses in started { ports = addresses.compactMapValues { $0.split(separator: ":").last.flatMap { UInt16($0) } } }
        (port, adminPort) = (ports["service"] ?? 0, ports["admin"] ?? 0)
    }

    func stop() async {
        serving.cancel()
        _ = await serving.result
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// A client that has sent a request and not read the answer. Blocking, as all of the following.
    func begin(_ path: String, fields: [String] = []) throws -> RawClient {
        let client = try RawClient(port: port)
        try client.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nUser-Agent: tests\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
        return client
    }

    func get(_ path: String, fields: [String] = []) throws -> RawResponse {
        try begin(path, fields: fields).response()
    }

    func admin(_ method: String, _ path: String, body: String = "") throws -> RawResponse {
        let client = try RawClient(port: adminPort)
        try client.send(
            "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n" + body)
        return try client.response(to: method)
    }

    /// The value of a metric, told with its labels as it is printed.
    func metric(_ name: String) throws -> Int {
        let line = try admin("GET", "/metrics").text.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line.flatMap { $0.split(separator: " ").last }.flatMap { Double($0) }.map { Int($0) } ?? -1
    }

    /// Waits until a metric has a value.
    func reach(_ name: String, _ value: Int) throws {
        while try metric(name) != value { usleep(2_000) }
    }
}

/// Holds reads of a store up: a store that sleeps.
final class Valve: Sendable {
    private let gate: Mutex<Gate>
    private let isBroken = Atomic(false)

    init(isOpen: Bool) {
        let first = Gate()
        if isOpen { first.open() }
        gate = Mutex(first)
    }

    func close() { gate.withLock { $0 = Gate() } }

    /// - Parameter failing: has what goes through from now on fail.
    func open(failing: Bool = false) {
        isBroken.store(failing, ordering: .relaxed)
        gate.withLock { $0 }.open()
    }

    fileprivate func pass() throws {
        gate.withLock { $0 }.wait()
        if isBroken.load(ordering: .relaxed) { throw StoreError.unavailable("the valve is broken") }
    }
}

/// All content, each reading of which is held up once its snapshot is taken.
struct ValvedSource: DataSource {
    let valve: Valve
    private let content = FlatDataSource()

    init(_ valve: Valve) {
        self.valve = valve
    }

    var sectionCount: Int { 1 }

    func itemCount(in section: Int, of snapshot: any FeedSnapshot) throws -> Int { try content.itemCount(in: section, of: snapshot) }

    func items(
        in section: Int, _ direction: PageDirection, of place: ItemPlace?, limit: Int, from snapshot: any FeedSnapshot
    ) throws -> [FeedItem] {
        let items = try content.items(in: section, direction, of: place, limit: limit, from: snapshot)
        try valve.pass()
        return items
    }
}

/// Lines of the import format: users with a picture that the binary holds, and an advertisement.
func sampleItems(users: Int) -> String {
    (0..<users).map { sampleUser("\($0)") + "\n" }.joined()
        + #"{"klass":"advertisement","id":1,"contentUrl":"https://example.com/a.png","clickthroughUrl":"https://example.com/","type":"image"}"#
}

func sampleUser(_ id: String) -> String {
    #"{"klass":"user","id":"\#(id)","username":"User \#(id)","avatarUrl":"http://pictures.sample.invalid/avatar-0.png","type":"regular"}"#
}
