import Foundation
import Testing

@testable import Service

@Suite("Audit log")
struct AuditLogTests {
    private func entry(_ path: String) -> AuditLog.Entry {
        AuditLog.Entry(time: "2026-11-21T09:00:00Z", who: "loopback", method: "PUT", path: path, status: 200, outcome: "done")
    }

    @Test("appends whole lines, from many at once and over a restart, for its owner's eyes alone")
    func appends() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID()).log").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        for round in 0..<2 {
            let log = try AuditLog(path: path)
            try await withThrowingTaskGroup { group in
                for number in 0..<20 { group.addTask { try log.append(entry("/\(round)/\(number)\n\"")) } }
                try await group.waitForAll()
            }
        }
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let paths = try lines.map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])["path"] as? String
        }
        #expect(Set(paths).count == 40)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("a service whose writes cannot be recorded does not start")
    func refuses() {
        #expect(throws: ConfigurationError.self) { try AuditLog(path: "/nowhere/at/all") }
    }
}
