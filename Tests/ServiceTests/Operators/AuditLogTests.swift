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

    @Test(
        "keeps no secret of a URL",
        arguments: [
            ("/admin/users/a@b:c", "/admin/users/a@b:c"), ("/admin/items?on-error=skip", "/admin/items?on-error=skip"),
            ("/admin/images?url=https://a.example/b.png", "/admin/images?url=https://a.example/b.png"),
            ("/admin/images?url=https%3A%2F%2Fa.example%2Fb.png%3Ftoken%3Ds3cret", "/admin/images?url=https://a.example/b.png?…"),
            ("/admin/images?url=https://me:s3cret@a.example/b.png", "/admin/images?url=…"),
            ("/admin/images?url=https%3A%2F%2Fme%3As3cret%40a.example", "/admin/images?url=…"),
            ("/admin/images?me:s3cret@a", "/admin/images?…"),
            ("/admin/images?x=1&%75rl=//me:s3cret@a&y=2", "/admin/images?x=1&%75rl=…&y=2"),
            ("/admin/images?url=%ff:s3cret", "/admin/images?url=…"),
        ])
    func shown(target: String, expected: String) {
        #expect(AuditLog.shown(target) == expected)
    }
}
