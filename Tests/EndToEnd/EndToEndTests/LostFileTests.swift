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

    @Test("While all files of the data folder are elsewhere, every writer is refused, commands too, and no database appears")
    func allMoved() async throws {
        try await offPool {
            guard !RunningService.usesPostgreSQL else { return }
            let service = try RunningService(items: Items.users(2) + Items.advertisements(1), settings: [RunningService.tokenSetting])
            let (folder, database) = (service.folder, ["--database", "\(service.folder)/intertwine.sqlite"])
            let elsewhere = folder + ".elsewhere"
            try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(atPath: elsewhere) }
            #expect(try Command.run(["backup"] + database + ["\(elsewhere)/backup"]).code == 0)
            let items = "\(elsewhere)/items.ndjson"
            try Items.user("imported").write(toFile: items, atomically: true, encoding: .utf8)
            let click = try Self.click(service)
            let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != "empty.yaml" }
            #expect(files.contains("intertwine.sqlite-wal") && files.contains("signing.key"), "\(files)")
            func move(_ files: [String], from: String, to: String) {
                for file in files { #expect(rename("\(from)/\(file)", "\(to)/\(file)") == 0) }
            }
            move(files, from: folder, to: elsewhere)
            let writes = [
                ("PUT", "/admin/items/user/new", Self.user), ("DELETE", "/admin/items/user/u0", ""),
                ("PUT", "/admin/takedowns/user:u0", ""),
                ("POST", "/admin/operations", #"{"operations": [{"remove": "user:u0"}]}"#),
                ("POST", "/admin/items", Items.user("imported")),
            ]
            let commands = [
                ["import"] + database + [items], ["takedown", "add"] + database + ["user:u0"],
                ["takedown", "release"] + database + ["--all"],
                ["restore", "\(elsewhere)/backup"] + database,
                ["serve", "--port", "0", "--admin-port", "0"] + database,
            ]
            // With the files away, and with others in their places.
            for round in 0..<2 {
                for (method, path, body) in writes {
                    #expect(try service.admin(method, path, body: body).status == 503, "\(round) \(method) \(path)")
                }
                #expect(try service.get(click).status == 503)
                #expect(try Self.seconds(service, untilReady: false) < 2)
                for command in commands {
                    let result = try Command.run(command)
                    #expect(result.code != 0 && result.code < 128, "\(round) \(command): \(result.lines)")
                }
                let there = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains(".sqlite") }
                let copied = ["intertwine.sqlite", "intertwine.ledger.sqlite"]
                #expect(Set(there) == Set(round == 0 ? [] : copied), "\(there)")
                for file in copied {
                    if round == 0 {
                        try FileManager.default.copyItem(atPath: "\(elsewhere)/backup/\(file)", toPath: "\(folder)/\(file)")
                    } else {
                        #expect(FileManager.default.contentsEqual(atPath: "\(elsewhere)/backup/\(file)", andPath: "\(folder)/\(file)"))
                        try FileManager.default.removeItem(atPath: "\(folder)/\(file)")
                    }
                }
            }
            move(files, from: elsewhere, to: folder)
            #expect(try Self.seconds(service, untilReady: true) < 2)
            #expect(try service.admin("PUT", "/admin/items/user/new", body: Self.user).status == 201)
            #expect(try service.get(click).status == 302)
            #expect(try JSON(service.get("/feed").text)["cells"]?.list.count { $0["id"]?.text?.hasPrefix("user:") == true } == 3)
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

    @Test("The check of a start finds one corrupt bit of an index, and writes are refused", arguments: [".ledger", ""])
    func bit(part: String) async throws {
        try await offPool {
            let first = try RunningService(items: Items.users(300) + Items.advertisements(1), settings: [RunningService.tokenSetting])
            let dismiss = { (number: Int) in
                try first.ask("POST", "/cells/user:u1/dismissal", fields: ["User-Agent: t", "X-Viewer-ID: v\(number)"]).status
            }
            for number in 0..<40 { #expect(try dismiss(number) == 200) }
            first.stop()
            let pages = DatabasePages("\(first.folder)/intertwine\(part).sqlite")
            try pages.flip(in: part.isEmpty ? "item_identity" : "listing_cell")
            let service = try RunningService(in: first.folder, settings: [RunningService.tokenSetting])
            let end = ContinuousClock.now + .seconds(30)
            while try service.get("/readyz").status == 200, .now < end { usleep(50_000) }
            #expect(try service.get("/readyz").status == 503)
            #expect(try service.get("/feed").status == 200)
            try Self.expectNoWrites(service, part)
            #expect(first.folder == service.folder)
        }
    }
}
