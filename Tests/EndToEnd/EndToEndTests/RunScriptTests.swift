import Foundation
import Glibc
import TestSupport
import Testing

/// `make run-replicas` with the programs of this build.
@Suite("Script that starts replicas", .onlyInFull)
struct RunScriptTests {
    private static func start(_ variables: [String: String], in folder: String) throws -> SpawnedProcess {
        // The script gets the path of the programs from `swift build`.
        let tools = "\(folder)/tools"
        try FileManager.default.createDirectory(atPath: tools, withIntermediateDirectories: true)
        let products = URL(fileURLWithPath: BuiltProduct.path("intertwine")).deletingLastPathComponent().path
        try "#!/bin/sh\necho '\(products)'\n".write(toFile: "\(tools)/swift", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(tools)/swift")
        let script = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../Deploy/run-replicas").standardized.path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try SpawnedProcess([script], environment: variables.merging(["PATH": "\(tools):\(path)"]) { $1 })
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
                ], in: folder)
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
}
