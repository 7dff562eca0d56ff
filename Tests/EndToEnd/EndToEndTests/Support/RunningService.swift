import Foundation
import Glibc
import TestSupport

/// The real binary with a store in a separate folder and on free ports. Blocking: use it within ``offPool(_:)``.
final class RunningService {
    let folder: String
    private(set) var port: UInt16 = 0
    private(set) var adminPort: UInt16 = 0
    private(set) var process: SpawnedProcess
    private let settings: [String]
    private let flags: [String]
    private let environment: [String: String]
    private let wantedPort: UInt16
    private let ownsFolder: Bool

    /// A file in the folder, or the address of a PostgreSQL database.
    let database: String

    /// With `TEST_DATABASE=postgresql`, each service has its items and ledger in a separate PostgreSQL database.
    static let usesPostgreSQL = ProcessInfo.processInfo.environment["TEST_DATABASE"] == "postgresql"

    /// - Parameters:
    ///   - items: NDJSON to import first.
    ///   - settings: `key=value` each.
    ///   - port: 0 for any free port.
    ///   - database: a database that other services share; a new one if nil.
    init(
        items: String = "", settings: [String] = [], port: UInt16 = 0, environment: [String: String] = [:], database: String? = nil
    ) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        self.database = try database ?? (Self.usesPostgreSQL ? PostgresServer.shared().makeDatabase().uri : "\(folder)/intertwine.sqlite")
        self.settings = settings
        flags = []
        self.environment = environment
        wantedPort = port
        ownsFolder = true
        try "".write(toFile: "\(folder)/empty.yaml", atomically: true, encoding: .utf8)
        if !items.isEmpty { _ = try Self.importItems(items, into: self.database, folder: folder) }
        process = try Self.spawn(folder, self.database, settings, flags, wantedPort, environment)
        try readPorts()
    }

    /// Serves the store in a folder, which remains after the service ends.
    ///
    /// - Parameters:
    ///   - database: the file in the folder if nil.
    ///   - flags: of `intertwine serve`.
    init(
        in folder: String, database: String? = nil, settings: [String] = [], flags: [String] = [], environment: [String: String] = [:]
    ) throws {
        self.folder = folder
        self.database = database ?? "\(folder)/intertwine.sqlite"
        self.settings = settings
        self.flags = flags
        self.environment = environment
        wantedPort = 0
        ownsFolder = false
        try "".write(toFile: "\(folder)/empty.yaml", atomically: true, encoding: .utf8)
        process = try Self.spawn(folder, self.database, settings, flags, wantedPort, environment)
        try readPorts()
    }

    deinit {
        process.signal(SIGKILL)
        _ = process.wait()
        if ownsFolder { try? FileManager.default.removeItem(atPath: folder) }
    }

    private static func spawn(
        _ folder: String, _ database: String, _ settings: [String], _ flags: [String], _ port: UInt16,
        _ environment: [String: String] = [:]
    ) throws -> SpawnedProcess {
        try SpawnedProcess(
            [BuiltProduct.path("intertwine")] + arguments(folder, database, port) + flags + settings.flatMap { ["--set", $0] },
            environment: environment)
    }

    /// Returns the arguments of the command that serves the store in a folder.
    static func arguments(_ folder: String, _ database: String, _ port: UInt16 = 0) -> [String] {
        [
            "serve", "--config", "\(folder)/empty.yaml", "--host", "127.0.0.1", "--port", "\(port)", "--admin-port", "0", "--database",
            database, "--set", "server.data-folder=\(folder)",
            // The rotation is the same in every hour.
            "--set", "ads.rotation=listed",
            // Most tests report impressions at once, and click without them.
            "--set", "ads.count-clicks=all", "--set", "ads.viewability.image=50% 0s", "--set", "ads.viewability.video=50% 0s",
            // The disk of a busy machine may need longer than the default. No client of the tests waits longer than 15 s.
            "--set", "ledger.write-timeout=12s",
        ]
    }

    /// Ends the service as an operator does.
    func stop() {
        process.signal(SIGTERM)
        _ = process.wait()
    }

    private func readPorts() throws {
        port = try Self.port(in: process.line(containing: "service: listening on"))
        adminPort = try Self.port(in: process.line(containing: "admin: listening on"))
    }

    private static func port(in line: String) throws -> UInt16 {
        guard let text = line.split(separator: ":").last, let port = UInt16(text) else { throw RawClientError.closed }
        return port
    }

    /// Kills the service without a warning and starts it again on the same files.
    func killAndRestart() throws {
        process.signal(SIGKILL)
        _ = process.wait()
        process = try Self.spawn(folder, database, settings, flags, wantedPort, environment)
        try readPorts()
    }

    /// Returns the entries of the audit log, without those of the begin of an action; none without a log.
    func audited() throws -> [JSON] {
        let log = try? String(contentsOfFile: "\(folder)/audit.log", encoding: .utf8)
        return try (log ?? "").split(separator: "\n").map { try JSON(String($0)) }.filter { $0["outcome"]?.text != "begun" }
    }

    func importItems(_ items: String, arguments: [String] = []) throws -> [String] {
        try Self.importItems(items, into: database, folder: folder, arguments: arguments)
    }

    /// Runs `intertwine import`, and returns its output without the name of the store.
    static func importItems(_ items: String, into database: String, folder: String, arguments: [String] = []) throws -> [String] {
        let file = "\(folder)/\(UUID()).ndjson"
        try items.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let options = ["--foreground", "--config", "\(folder)/empty.yaml", "--database", database, "--set", "server.data-folder=\(folder)"]
        let result = try Command.run(["import", "--foreground"] + options + arguments + [file])
        guard result.code == 0 else { throw RawClientError.system(result.lines.joined(separator: "\n"), result.code) }
        return result.lines.map { line in
            guard let store = line.firstRange(of: ": "),
                line[store.upperBound...].hasPrefix("added") || line[store.upperBound...].hasPrefix("would add")
            else { return line }
            return String(line[store.upperBound...])
        }
    }

    /// Sends one request on a new connection. Every response passes the lint.
    func ask(_ method: String, _ path: String, fields: [String] = ["User-Agent: tests"], body: String = "") throws -> RawResponse {
        let client = try RawClient(port: port)
        return try Self.ask(client, method, path, fields: fields + ["Connection: close"], body: body)
    }

    static func ask(
        _ client: RawClient, _ method: String, _ path: String, fields: [String] = ["User-Agent: tests"], body: String = ""
    ) throws -> RawResponse {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n" + fields.map { "\($0)\r\n" }.joined()
        if !body.isEmpty { head += "Content-Length: \(body.utf8.count)\r\n" }
        if !body.isEmpty, !fields.contains(where: { $0.hasPrefix("Content-Type:") }) { head += "Content-Type: application/json\r\n" }
        try client.send(head + "\r\n" + body)
        return try client.response(to: method)
    }

    func get(_ path: String, fields: [String] = ["User-Agent: tests"]) throws -> RawResponse {
        try ask("GET", path, fields: fields)
    }

    /// Returns the rows of the ledger from `intertwine export events`.
    func events() throws -> [JSON] {
        let result = try Command.run(["export", "events", "--config", "\(folder)/empty.yaml", "--database", database])
        guard result.code == 0 else { throw RawClientError.system(result.lines.joined(separator: "\n"), result.code) }
        return try result.lines.filter { $0.hasPrefix("{") }.map { try JSON($0) }
    }
}
