import Foundation
import Glibc
import TestSupport
import Testing

/// `make run` and `make run-replicas` with the programs of this build.
@Suite("Scripts that start the sample")
struct RunScriptTests {
    private static func start(_ variables: [String: String], in folder: String, script name: String = "run") throws -> SpawnedProcess {
        // The script gets the path of the programs from `swift build`.
        let tools = "\(folder)/tools"
        try FileManager.default.createDirectory(atPath: tools, withIntermediateDirectories: true)
        let products = URL(fileURLWithPath: BuiltProduct.path("intertwine")).deletingLastPathComponent().path
        try "#!/bin/sh\necho '\(products)'\n".write(toFile: "\(tools)/swift", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(tools)/swift")
        let script = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../Config/\(name)").standardized.path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try SpawnedProcess([script], environment: variables.merging(["PATH": "\(tools):\(path)"]) { $1 })
    }

    @Test("The script imports the sample into an empty or missing store", arguments: [true, false])
    func emptyStore(isThere: Bool) async throws {
        try await offPool {
            let service = try RunningService()
            service.process.signal(SIGTERM)
            #expect(service.process.wait() == 0)
            let database = isThere ? service.database : "\(service.folder)/new/intertwine.sqlite"
            let script = try Self.start(
                ["PORT": "\(freePort())", "ADMIN_PORT": "\(freePort())", "DATABASE": database], in: service.folder)
            _ = try script.line(containing: "Try:", timeout: 60_000)
            #expect(try script.line(containing: "curl -i").contains("/click/"))
            #expect(script.lines.contains { $0.hasSuffix(": added 376, replaced 0, skipped 0") }, "\(script.lines)")
            script.signal(SIGTERM)
            while try script.nextLine() != nil {}
            #expect(script.wait() == 0)
        }
    }

    @Test("A kill of one of three replicas behind the balancer fails no request")
    func replicas() async throws {
        try await offPool {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let port = try freePort()
            let ports = try (0..<6).map { _ in "\(try freePort())" }
            let script = try Self.start(
                [
                    "PORT": "\(port)", "DATABASE_PORT": "\(freePort())", "REPLICA_PORTS": ports[..<3].joined(separator: " "),
                    "ADMIN_PORTS": ports[3...].joined(separator: " "), "FOLDER": "\(folder)/replicas",
                ], in: folder, script: "run-replicas")
            let line = try script.line(containing: "kill -9", timeout: 60_000)
            #expect(script.lines.contains { $0.hasSuffix(": added 376, replaced 0, skipped 0") }, "\(script.lines)")
            let replica = try #require(line.split(separator: " ").compactMap { Int32($0) }.first { $0 != -9 })
            var statuses: Set<Int> = []
            for number in 0..<200 {
                if number == 50 { kill(replica, SIGKILL) }
                let client = try RawClient(port: port)
                statuses.insert(try RunningService.ask(client, "GET", "/feed?limit=2", fields: ["Connection: close"]).status)
            }
            #expect(statuses == [200])
            script.signal(SIGTERM)
            while try script.nextLine() != nil {}
            #expect(script.wait() == 0)
        }
    }

    @Test("A busy port stops the script with one line and creates no store", arguments: ["PORT", "ADMIN_PORT"])
    func takenPort(name: String) async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(1))
            var variables = try ["PORT": "\(freePort())", "ADMIN_PORT": "\(freePort())", "DATABASE": "\(service.folder)/new/x.sqlite"]
            variables[name] = "\(service.port)"
            let script = try Self.start(variables, in: service.folder)
            while try script.nextLine() != nil {}
            #expect(script.wait() != 0)
            #expect(script.lines.count == 1 && script.lines[0].contains("127.0.0.1:\(service.port)"), "\(script.lines)")
            #expect(!FileManager.default.fileExists(atPath: "\(service.folder)/new"))
        }
    }
}
