import Foundation
import TestSupport
import Testing

@Suite("Missing and damaged database files of a running service")
struct LostFileTests {
    private static let user = #"{"username":"A","avatarUrl":"https://pictures.example.com/a.png","type":"regular"}"#

    /// Returns the seconds until the service is ready, or not ready.
    private static func seconds(_ service: RunningService, untilReady isReady: Bool) throws -> Double {
        let start = Date()
        while try (service.get("/readyz").status == 200) != isReady, Date().timeIntervalSince(start) < 15 { usleep(20_000) }
        return Date().timeIntervalSince(start)
    }

    @Test("A service without its database file logs it once and refuses writes until it returns", arguments: [".ledger", ""])
    func moved(part: String) async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2) + Items.advertisements(1), settings: [RunningService.tokenSetting])
            let page = try JSON(try service.get("/feed").text)
            let click = try #require(
                page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text)
            #expect(try service.get("/readyz").status == 200)
            let file = "\(service.folder)/intertwine\(part).sqlite"
            #expect(rename(file, "\(file).aside") == 0)
            let write = {
                part.isEmpty
                    ? try service.admin("PUT", "/admin/items/user/new", body: Self.user).status : try service.get(click).status
            }
            #expect(try write() == 503)
            #expect(try Self.seconds(service, untilReady: false) < 1)
            _ = try service.process.line(containing: "a database is missing")
            #expect(rename("\(file).aside", file) == 0)
            #expect(try Self.seconds(service, untilReady: true) < 1)
            _ = try service.process.line(containing: "a database is available again")
            #expect(service.process.lines.count { $0.contains("a database is missing") } == 1)
            #expect(try write() == (part.isEmpty ? 201 : 302))
        }
    }

    @Test("A ledger that another process locks makes the service unready until the lock ends")
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
        "An overwritten database file makes the service unready, even with cached pages",
        arguments: [".ledger", ""])
    func damaged(part: String) async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2) + Items.advertisements(1), settings: [RunningService.tokenSetting])
            let click = try Self.click(service)
            #expect(try service.get(click).status == 302)
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
            try Self.expectNoWrites(service, part)
        }
    }

    private static func click(_ service: RunningService) throws -> String {
        let page = try JSON(try service.get("/feed").text)
        return try #require(page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text)
    }

    /// Expects that every write to a damaged file returns 503.
    private static func expectNoWrites(_ service: RunningService, _ part: String) throws {
        if part.isEmpty {
            #expect(try service.admin("PUT", "/admin/items/user/new", body: user).status == 503)
            #expect(try service.admin("POST", "/admin/items", body: Items.user("imported")).status == 503)
        } else {
            let click = try click(service)
            for number in 0..<40 { #expect(try service.get(click, fields: ["User-Agent: tests/\(number)"]).status == 503) }
            #expect(try service.ask("POST", "/cells/user:u1/dismissal", fields: ["User-Agent: t", "X-Viewer-ID: v"]).status == 503)
        }
        _ = try service.process.line(containing: "a database is corrupt")
        let file = part.isEmpty ? "items" : "ledger"
        #expect(try service.admin("GET", "/metrics").text.contains("intertwine_store_corrupt{file=\"\(file)\"} 1\n"))
    }

    @Test("A truncated ledger refuses each write from the next click on")
    func cut() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2) + Items.advertisements(1), settings: [RunningService.tokenSetting])
            #expect(try service.get(try Self.click(service)).status == 302)
            #expect(truncate("\(service.folder)/intertwine.ledger.sqlite", 10_000) == 0)
            try Self.expectNoWrites(service, ".ledger")
            #expect(try service.get("/readyz").status == 503)
        }
    }

    @Test("The background check finds one corrupt bit of an event and reports its progress")
    func bit() async throws {
        try await offPool {
            let first = try RunningService(items: Items.users(2) + Items.advertisements(1), settings: ["events.click-rate=100000"])
            let click = try Self.click(first)
            let client = try RawClient(port: first.port)
            for number in 0..<300 {
                _ = try RunningService.ask(client, "GET", click, fields: ["User-Agent: browser-\(number)-of-somebody"])
            }
            first.stop()
            let service = try RunningService(in: first.folder, settings: [RunningService.tokenSetting])
            func sample(_ name: String) throws -> Double? {
                let lines = try service.admin("GET", "/metrics").text.split(separator: "\n")
                return lines.first { $0.hasPrefix("\(name){file=\"ledger\"} ") }?.split(separator: " ").last.flatMap { Double($0) }
            }
            // The first check writes the digests.
            while try sample("intertwine_store_checks_total") != 1 { usleep(50_000) }
            #expect(try sample("intertwine_store_check_progress_ratio") == 1)
            let handle = try #require(FileHandle(forUpdatingAtPath: "\(service.folder)/intertwine.ledger.sqlite"))
            let place = try #require(try handle.readToEnd()?.range(of: Data("browser-7-of-somebody".utf8)))
            try handle.seek(toOffset: UInt64(place.lowerBound))
            try handle.write(contentsOf: Data("c".utf8))
            while try service.get("/readyz").status == 200 { usleep(50_000) }
            try Self.expectNoWrites(service, ".ledger")
            #expect(first.folder == service.folder)
        }
    }
}
