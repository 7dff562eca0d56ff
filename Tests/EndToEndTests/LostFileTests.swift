import Foundation
import TestSupport
import Testing

@Suite("Database files that go and come back under the service, from outside")
struct LostFileTests {
    private static let user = #"{"username":"A","avatarUrl":"https://pictures.example.com/a.png","type":"regular"}"#

    /// Seconds until the service is ready or, as wanted, is not.
    private static func seconds(_ service: RunningService, untilReady isReady: Bool) throws -> Double {
        let start = Date()
        while try (service.get("/readyz").status == 200) != isReady, Date().timeIntervalSince(start) < 15 { usleep(20_000) }
        return Date().timeIntervalSince(start)
    }

    @Test("a file that is moved away is told in one line, and stops writes and readiness until it is back", arguments: [".ledger", ""])
    func moved(part: String) async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2) + Items.advertisements(1), settings: [RunningService.tokenSetting])
            let page = try JSON(try service.get("/feed").text)
            let click = try #require(
                page["items"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text)
            #expect(try service.get("/readyz").status == 200)
            let file = "\(service.folder)/intertwine\(part).sqlite"
            #expect(rename(file, "\(file).aside") == 0)
            let write = {
                part.isEmpty
                    ? try service.admin("PUT", "/admin/users/new", body: Self.user).status : try service.get(click).status
            }
            #expect(try write() == 503)
            #expect(try Self.seconds(service, untilReady: false) < 1)
            _ = try service.process.line(containing: "a database is gone")
            #expect(rename("\(file).aside", file) == 0)
            #expect(try Self.seconds(service, untilReady: true) < 1)
            _ = try service.process.line(containing: "a database is back")
            #expect(service.process.lines.count { $0.contains("a database is gone") } == 1)
            #expect(try write() == (part.isEmpty ? 201 : 302))
        }
    }

    @Test("a ledger that another process keeps locked makes the service unready, and no longer than that")
    func locked() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2))
            let ledger = "\(service.folder)/intertwine.ledger.sqlite"
            let other = try SpawnedProcess([
                "/usr/bin/sqlite3", "-bail", ledger, ".timeout 5000", "BEGIN IMMEDIATE", ".system echo locked; sleep 20",
            ])
            _ = try other.line(containing: "locked")
            #expect(try Self.seconds(service, untilReady: false) < 15)
            other.signal(SIGKILL)
            _ = other.wait()
            #expect(try Self.seconds(service, untilReady: true) < 5)
        }
    }

    @Test(
        "a file that is written over makes the service unready, though all that it was asked for lies in memory",
        arguments: [".ledger", ""])
    func damaged(part: String) async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2) + Items.advertisements(1))
            _ = try service.get("/feed")
            #expect(try service.get("/readyz").status == 200)
            for file in ["", "-wal"].map({ "\(service.folder)/intertwine\(part).sqlite\($0)" }) {
                let handle = try #require(FileHandle(forUpdatingAtPath: file))
                let size = try handle.seekToEnd()
                try handle.seek(toOffset: 0)
                try handle.write(contentsOf: Data(repeating: 0x5A, count: Int(size)))
            }
            #expect(try service.get("/feed").status == 200)
            #expect(try service.get("/readyz").status == 503)
            #expect(try service.get("/healthz").status == 200)
        }
    }
}
