import Foundation
import Glibc
import TestSupport
import Testing

/// Performs the commands of `Documentation/how-to/backup.md` with a server of its own.
@Suite("Point-in-time recovery of a PostgreSQL database", .onlyInFull, .timeLimit(.untilStuck))
struct PointInTimeRecoveryTests {
    /// The code blocks of the sections on recovery, by the title of their section.
    private let blocks: [String: [String]]

    init() throws {
        let page = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../Documentation/how-to/backup.md").standardized
        var (blocks, title, block): ([String: [String]], String, [Substring]?) = ([:], "", nil)
        for line in try String(contentsOf: page, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let text = block?.joined(separator: "\n") { blocks[title, default: []].append(text) }
                block = block == nil ? [] : nil
            } else if block != nil {
                block?.append(line)
            } else if line.hasPrefix("#") {
                title = String(line.drop { $0 == "#" || $0 == " " })
            }
        }
        self.blocks = blocks
    }

    /// Returns a text of the page with the locations of a server. Its commands run in the data folder.
    private static func located(_ text: String, _ server: PostgresServer?) -> String {
        text.replacing("/var/lib/postgresql/archive", with: "../archive")
            .replacing("/var/lib/postgresql/base", with: "../base")
            .replacing("/var/lib/postgresql/15/main", with: server.map { "\($0.folder)/data" } ?? "")
            .replacing("/var/lib/postgresql/15/damaged", with: server.map { "\($0.folder)/damaged" } ?? "")
            .replacing("postgresql://postgres@/postgres", with: server?.uri(of: "postgres") ?? "")
    }

    /// Runs the commands as PostgreSQL's user. The commands of systemd are those of the server object.
    private static func run(_ commands: String, on server: PostgresServer) throws {
        var script = ""
        func runScript() throws {
            let owner = geteuid() == 0 ? ["/usr/sbin/runuser", "-u", "postgres", "--"] : []
            let shell = ["/bin/bash", "-euc", "cd '\(server.folder)/archive' 2>/dev/null || cd '\(server.folder)/data'\n\(script)"]
            let process = try SpawnedProcess(owner + shell, environment: ["PATH": "\(server.programs):/usr/bin:/bin"])
            while try process.nextLine(timeout: 60_000) != nil {}
            let code = process.wait()
            #expect(code == 0, "\(script): \(process.lines)")
            script = ""
        }
        for line in commands.split(separator: "\n", omittingEmptySubsequences: false) {
            switch line {
            case "systemctl stop postgresql":
                try runScript()
                try server.stop()
            case "systemctl start postgresql":
                try runScript()
                try server.start()
            default: script += line + "\n"
            }
        }
        try runScript()
    }

    private func commands(_ title: String) throws -> String { try #require(blocks[title]?.first) }

    @Test("The documented commands recover the moment before a deletion, with each click until then")
    func drill() async throws {
        try await offPool {
            let archiving = try #require(blocks["Archive the write-ahead log"])
            let settings = Self.located(archiving[1], nil).split(separator: "\n").map(String.init)
            let server = try PostgresServer(settings: settings)
            try Self.run(Self.located(archiving[0], server), on: server)
            let database = try server.makeDatabase()
            let service = try RunningService(items: Replicas.items, settings: Replicas.settings, database: database.uri)
            let link = try Replicas.click(service)
            func click(_ viewer: String, _ service: RunningService) throws {
                #expect(try service.get(link, fields: ["User-Agent: tests", "X-Viewer-ID: \(viewer)"]).status == 302)
            }
            try click("before the base backup", service)
            try Self.run(Self.located(try commands("Make a base backup"), server), on: server)
            for number in 0..<20 { try click("after \(number)", service) }
            let moment = try database.psql("SELECT clock_timestamp()")
            try click("too late", service)
            try database.psql("DELETE FROM item; DELETE FROM event")
            try server.archive()
            service.stop()

            let recovery = try commands("Recover to a point in time").replacing("2026-11-27 10:30:00+00", with: moment)
            try Self.run(Self.located(recovery, server), on: server)
            try poll { try database.psql("SELECT pg_is_in_recovery()") == "f" }
            #expect(try database.psql("SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)") == "00000002")
            let recovered = try RunningService(settings: Replicas.settings, database: database.uri)
            #expect(try Set(Replicas.viewers(recovered)) == Set(["before the base backup"] + (0..<20).map { "after \($0)" }))
            #expect(try recovered.get("/feed").text.contains("u11"))
            // The signing key is the same.
            try click("recovered", recovered)
        }
    }
}
