import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Imports and the audit log from outside")
struct OperatorImportTests {
    @Test("An import over HTTP is streamed, and pages show it only after its end")
    func streamed() async throws {
        try await offPool {
            let service = try RunningService(settings: [RunningService.tokenSetting])
            let client = try RawClient(port: service.adminPort)
            try client.send(
                "POST /admin/items HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer \(RunningService.token)\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n")
            for number in 0..<50 {
                let piece = Items.user("u\(number)")
                // Each chunk ends in the middle of an item: chunks are not lines.
                for part in [piece.prefix(40), piece.dropFirst(40)] {
                    try client.send(String(part.utf8.count, radix: 16) + "\r\n" + part + "\r\n")
                }
            }
            #expect(try JSON(try service.get("/feed").text)["cells"]?.list.isEmpty == true)
            try client.send("0\r\n\r\n")
            let response = try client.response(to: "POST")
            #expect(response.status == 200)
            #expect(try JSON(response.text)["added"]?.number == 50)
            #expect(try JSON(try service.get("/feed?limit=100").text)["cells"]?.list.count == 50)
        }
    }

    @Test("An import from a slow client or pipe does not block other writes")
    func stalled() async throws {
        try await offPool {
            let service = try RunningService(items: Items.user("old"), settings: [RunningService.tokenSetting])
            // The items exceed the buffers of pipes and sockets, so the reader has started.
            let items = (0..<5_000).map { Items.user("u\($0)") }
            let pipe = "\(service.folder)/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            let command = try SpawnedProcess([
                BuiltProduct.path("intertwine"), "import", "--config", "\(service.folder)/empty.yaml", "--database", service.database,
                "--set",
                "server.data-folder=\(service.folder)", pipe,
            ])
            let writer = try #require(FileHandle(forWritingAtPath: pipe))
            try writer.write(contentsOf: Data(items[..<4_000].joined().utf8))
            #expect(try service.admin("PUT", "/admin/items/user/u0", body: Items.user("u0", "featured")).status == 201)
            let client = try RawClient(port: service.adminPort)
            try client.send(
                "POST /admin/items HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer \(RunningService.token)\r\n"
                    + "Content-Length: \(items.joined().utf8.count)\r\n\r\n" + items[..<4_000].joined())
            #expect(try service.admin("PUT", "/admin/items/user/u1", body: Items.user("u1", "featured")).status == 201)
            try writer.write(contentsOf: Data(items[4_000...].joined().utf8))
            try writer.close()
            while try command.nextLine(timeout: 60_000) != nil {}
            #expect(
                command.wait() == 0 && command.lines.last == "\(service.database): added 4998, replaced 2, skipped 0", "\(command.lines)")
            try client.send(items[4_000...].joined())
            #expect(try JSON(try client.response(to: "POST").text)["replaced"]?.number == 5_000)
        }
    }

    @Test("An invalid item stops and reverts the import, or is skipped and reported")
    func bad() async throws {
        try await offPool {
            let service = try RunningService(settings: [RunningService.tokenSetting])
            let body = Items.user("a") + #"{"kind":"user","username":"b"}"# + "\n" + Items.user("c")
            let stopped = try service.admin("POST", "/admin/items", body: body)
            #expect(stopped.status == 422)
            #expect(try JSON(stopped.text)["detail"]?.text?.contains("line 2") == true)
            #expect(try JSON(try service.get("/feed").text)["cells"]?.list.isEmpty == true)
            let tried = try JSON(try service.admin("POST", "/admin/items?onError=skip&dryRun=true", body: body).text)
            #expect([tried["added"]?.number, tried["skipped"]?.number, tried["bad"]?[0]?["line"]?.number] == [2, 1, 2])
            #expect(try JSON(try service.get("/feed").text)["cells"]?.list.isEmpty == true)
            let skipped = try JSON(try service.admin("POST", "/admin/items?onError=skip", body: body).text)
            #expect([skipped["added"]?.number, skipped["skipped"]?.number] == [2, 1])
            #expect(skipped["bad"]?[0]?["line"]?.number == 2)
            let many = String(repeating: "{}\n", count: 500)
            let capped = try JSON(try service.admin("POST", "/admin/items?onError=skip", body: many).text)
            #expect(capped["skipped"]?.number == 500)
            #expect(capped["bad"]?.list.count == 100)
            #expect(try service.admin("POST", "/admin/items?onError=perhaps", body: body).status == 400)
            #expect(try service.admin("POST", "/admin/items", body: "").status == 200)
        }
    }

    @Test("An import detects gzip, limits its decompressed size, and refuses other formats")
    func files() async throws {
        try await offPool {
            let service = try RunningService(settings: [RunningService.tokenSetting, "admin.max-import=1MiB"])
            func post(_ body: [UInt8], _ query: String = "") throws -> RawResponse {
                let client = try RawClient(port: service.adminPort)
                try client.send(
                    Array(
                        ("POST /admin/items\(query) HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer \(RunningService.token)\r\n"
                            + "Connection: close\r\nContent-Length: \(body.count)\r\n\r\n").utf8) + body)
                return try client.response(to: "POST")
            }
            let taken = try post(gzipped(Array(Items.users(100).utf8)))
            #expect(taken.status == 200)
            #expect(try JSON(taken.text)["added"]?.number == 100)
            let bomb = try post(gzipped(Array(String(repeating: Items.user("a"), count: 20_000).utf8)))
            #expect(bomb.status == 413)
            #expect(try JSON(bomb.text)["detail"]?.text == "Nothing was imported: the body has more than 1048576 bytes, decompressed.")
            let page = try post(Array("<!doctype html><html></html>".utf8), "?onError=skip")
            #expect(page.status == 422)
            #expect(try JSON(page.text)["detail"]?.text?.contains("line 1") == true)
            let wrong = Items.users(3).split(separator: "\n").joined(separator: ",").replacing("\"User u2\"", with: "7")
            let bad = try JSON(try post(Array("[\(wrong)]".utf8), "?onError=skip").text)["bad"]?[0]
            #expect(bad?["index"]?.number == 2 && bad?["id"]?.text == "u2" && bad?["line"]?.number == 1)
            #expect(
                bad?["offset"]?.number.map { Int($0) } == "[\(wrong)".utf8.count
                    - (wrong.components(separatedBy: "},").last?.utf8.count ?? 0))
            #expect(
                try JSON(try post(Array("[\(wrong)]".utf8)).text)["detail"]?.text?.contains("index 2 (from 0), id \"u2\", byte") == true)
        }
    }

    @Test("An import that is incomplete or too long adds no items")
    func brokenOff() async throws {
        try await offPool {
            let service = try RunningService(settings: [RunningService.tokenSetting, "admin.max-import=64KiB"])
            let client = try RawClient(port: service.adminPort)
            try client.send(
                "POST /admin/items HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer \(RunningService.token)\r\nContent-Length: 60000\r\n\r\n"
                    + Items.users(100))
            client.close()
            let long = Items.users(1_000)
            #expect(try service.admin("POST", "/admin/items", body: long).status == 413)
            // Waits until the first import has released the store.
            #expect(try service.admin("POST", "/admin/items", body: Items.user("a")).status == 200)
            #expect(try JSON(try service.get("/feed").text)["cells"]?.list.count == 1)
        }
    }

    @Test("The audit log has each write with its author and outcome, and no reads")
    func audit() async throws {
        try await offPool {
            let service = try RunningService(items: Items.user("a"), settings: [RunningService.tokenSetting])
            _ = try service.admin("GET", "/admin/items/user/a")
            _ = try service.admin("PUT", "/admin/items/user/a", body: Items.user("a", "featured"))
            _ = try service.admin("DELETE", "/admin/items/user/a", with: ["If-Match: *"])
            _ = try service.admin("POST", "/admin/items", body: Items.user("b"))
            _ = try service.admin("PUT", "/admin/items/ad/1", body: "{}")
            _ = try service.admin("DELETE", "/admin/images?url=https://pictures.example.com/a.png%3Fkey=open-sesame")
            _ = try service.admin("DELETE", "/admin/images?url=https://me:open-sesame@pictures.example.com/a.png")
            let text = try String(contentsOfFile: "\(service.folder)/audit.log", encoding: .utf8)
            let all = try service.audited()
            // The log also has the import before the start, with the user of the command.
            #expect(all.first?["method"]?.text == "import" && all.first?["who"]?.text?.hasPrefix("command:") == true)
            #expect(all.first?["changes"]?["added"]?.number == 1 && all.first?["outcome"]?.text == "done")
            let entries = Array(all.dropFirst())
            #expect(entries[1]["changes"]?["removed"]?.number == 1 && entries[1]["items"]?[0]?.text == "user:a")
            #expect(entries[2]["changes"]?["added"]?.number == 1 && entries[2]["items"]?[0]?.text == "user:b")
            #expect(entries[3]["changes"] == nil)
            #expect(entries.compactMap { $0["status"]?.number } == [428, 204, 200, 422, 204, 400])
            #expect(entries.compactMap { $0["method"]?.text } == ["PUT", "DELETE", "POST", "PUT", "DELETE", "DELETE"])
            #expect(entries.allSatisfy { $0["who"]?.text?.hasPrefix("token:") == true && $0["time"]?.text != nil })
            #expect(!text.contains(RunningService.token) && !text.contains("open-sesame"))
            #expect(entries[4]["path"]?.text == "/admin/images?url=https://pictures.example.com/a.png?…")
        }
    }

    @Test("The audit log has refused writes, except those without the token")
    func refused() async throws {
        try await offPool {
            let service = try RunningService()
            let ask = { (method: String, path: String, field: String, body: String) in
                try service.admin(method, path, fields: [field], body: body).status
            }
            let statuses = [
                try ask("PUT", "/admin/items/user/x", "Origin: https://evil.example.com", "{}"),
                try ask("PUT", "/admin/items/user/x", "Accept: */*", String(repeating: " ", count: 70_000)),
                try ask("PUT", "/admin/items/user/x", "Content-Encoding: gzip", "{}"),
                try ask("PUT", "/admin/items/user/x", "Expect: wonders", "{}"),
                try ask("POST", "/admin/items/user/x", "Accept: */*", "{}"), try ask("POST", "/metrics", "Accept: */*", ""),
                try ask("DELETE", "/nowhere", "Accept: */*", ""), try ask("TRACE", "/admin/items", "Accept: */*", ""),
                try ask("PUT", "/admin/items/user/x%ff", "Accept: */*", "{}"),
                try ask("PUT", "/admin/items/user/" + String(repeating: "x", count: 20_000), "Accept: */*", ""),
                try ask("DELETE", "/admin/items/user/x", "Accept: " + String(repeating: "x", count: 70_000), ""),
            ]
            #expect(statuses == [403, 413, 415, 417, 405, 405, 404, 405, 400, 414, 431])
            for method in ["GET", "HEAD", "OPTIONS"] {
                _ = try ask(method, "/admin/reports?by=moon", "Origin: https://evil.example.com", "")
            }
            // A refusal does not wait for the disk.
            try poll { try service.audited().count >= statuses.count }
            #expect(try service.audited().compactMap { $0["status"]?.number } == statuses)
            let (notAllowed, missing) = ("refused: Method Not Allowed", "refused: Not Found")
            #expect(
                try service.audited().compactMap { $0["outcome"]?.text } == [
                    "refused: Forbidden", "refused: Content Too Large", "refused: Unsupported Media Type", "refused: Expectation Failed",
                    notAllowed, notAllowed, missing, notAllowed, "refused: Bad Request", "refused: URI Too Long",
                    "refused: Request Header Fields Too Large",
                ])
            let guarded = try RunningService(settings: [RunningService.tokenSetting])
            #expect(try guarded.admin("PUT", "/admin/items/user/x", fields: [], body: "{}").status == 401)
            #expect(try guarded.admin("PUT", "/admin/items/user/x%ff", fields: [], body: "{}").status == 401)
            #expect(try guarded.admin("PUT", "/" + String(repeating: "x", count: 20_000), fields: [], body: "").status == 414)
            #expect(try guarded.audited().isEmpty)
        }
    }

    @Test("Writes and imports fail if the audit log cannot record them")
    func unrecordable() async throws {
        try await offPool {
            let service = try RunningService()
            try FileManager.default.removeItem(atPath: "\(service.folder)/audit.log")
            symlink("/dev/full", "\(service.folder)/audit.log")
            let refused = try service.admin("POST", "/admin/items", fields: [], body: Items.user("a"))
            #expect(refused.status == 503 && refused["retry-after"] == "1" && refused.text.contains("nothing was done"))
            #expect(throws: (any Error).self) { try service.importItems(Items.user("a")) }
            #expect(try JSON(try service.get("/feed").text)["cells"]?.list.isEmpty == true)
            try FileManager.default.removeItem(atPath: "\(service.folder)/audit.log")
            #expect(try service.admin("POST", "/admin/items", fields: [], body: Items.user("a")).status == 200)
            #expect(try JSON(try service.get("/feed").text)["cells"]?.list.count == 1)
            #expect(try service.audited().count == 1)
        }
    }

    @Test("An import whose outcome cannot be recorded has the begin of its entry and gets 503")
    func outcomeUnrecordable() async throws {
        try await offPool {
            let service = try RunningService()
            let item = Items.user("a")
            let client = try RawClient(port: service.adminPort)
            try client.send("POST /admin/items HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(item.utf8.count)\r\n\r\n{")
            let log = "\(service.folder)/audit.log"
            try poll { try String(contentsOfFile: log, encoding: .utf8).contains(#""outcome":"begun""#) }
            try FileManager.default.moveItem(atPath: log, toPath: "\(log).1")
            symlink("/dev/full", log)
            try client.send(String(item.dropFirst()))
            let answer = try client.response(to: "POST")
            #expect(answer.status == 503 && answer.text.contains("The request had the status 200"), "\(answer.text)")
            #expect(try JSON(try service.get("/feed").text)["cells"]?.list.count == 1)
            #expect(try String(contentsOfFile: "\(log).1", encoding: .utf8).split(separator: "\n").count == 1)
        }
    }

    @Test("Refused writes cannot fill the data folder")
    func refusedWrites() async throws {
        try await offPool {
            let service = try RunningService()
            let path = "/" + String(repeating: "x", count: 4_000)
            for _ in 0..<3 {
                let client = try RawClient(port: service.adminPort)
                for _ in 0..<100 {
                    try client.send("POST \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    #expect(try client.response(to: "POST").status == 404)
                }
            }
            // A later action is recorded.
            #expect(try service.admin("POST", "/admin/items", fields: [], body: Items.user("a")).status == 200)
            let size = try Data(contentsOf: URL(fileURLWithPath: "\(service.folder)/audit.log")).count
            #expect(size < 150_000, "\(size)")
            #expect(try service.audited().count == 101 && service.audited().last?["status"]?.number == 200)
        }
    }

    @Test(
        "Writes that the admin API refuses have at most 100 lines, whatever refuses them",
        arguments: [
            ("PUT", "/admin/items/user/x", "{}", 422), ("PUT", "/admin/items/user/x", "{", 400),
            ("PUT", "/admin/items/user/a", Items.user("a", "featured"), 428), ("DELETE", "/admin/items/user/none", "", 404),
            ("POST", "/admin/operations", #"{"operations": [{"paint": 1}]}"#, 422),
            ("PUT", "/admin/takedowns/user:a", #"{"reason": 1}"#, 422), ("DELETE", "/admin/takedowns/user:a", "", 404),
            ("DELETE", "/admin/images?host=a&all=true", "", 400), ("POST", "/admin/sources/none/sync", "", 404),
            ("DELETE", "/admin/viewers/" + String(repeating: "x", count: 257), "", 400),
        ])
    func refusedRequests(method: String, path: String, body: String, status: Int) async throws {
        try await offPool {
            let service = try RunningService(items: Items.user("a"))
            let before = try service.audited().count
            for _ in 0..<130 {
                let answer = try service.admin(method, path, fields: [], body: body)
                #expect(answer.status == status, "\(answer.text)")
            }
            #expect(try service.audited().count == before + 100)
            let text = try String(contentsOfFile: "\(service.folder)/audit.log", encoding: .utf8)
            #expect(text.components(separatedBy: #""outcome":"begun""#).count == 2)
            // The refusals delay no valid write.
            #expect(try service.admin("PUT", "/admin/items/user/b", fields: [], body: Items.user("b")).status == 201)
            #expect(try service.audited().count == before + 101)
        }
    }

    @Test(
        "An operator whose writes the store refuses waits after 100 of them",
        arguments: [
            ("/admin/operations", #"{"operations": [{"remove": "user:none"}]}"#), ("/admin/items", "{}\n"),
        ])
    func conflicts(path: String, body: String) async throws {
        try await offPool {
            let service = try RunningService(items: Items.user("a"))
            let before = try service.audited().count
            let statuses = try (0..<300).map { _ in try service.admin("POST", path, fields: [], body: body).status }
            let answered = statuses.count { $0 == 422 }
            #expect(answered >= 100 && answered + statuses.count { $0 == 429 } == 300)
            #expect(try service.audited().count == before + answered + min(100, 300 - answered))
            let refused = try service.admin("PUT", "/admin/items/user/b", fields: [], body: Items.user("b"))
            guard refused.status == 429 else { return #expect(refused.status == 201) }
            sleep(UInt32(try #require(Int(refused["retry-after"] ?? ""))))
            #expect(try service.admin("PUT", "/admin/items/user/b", fields: [], body: Items.user("b")).status == 201)
        }
    }

    @Test("After a kill with ten open imports and an audit log of 1 GiB, the service is ready within a second")
    func killed() async throws {
        try await offPool {
            let service = try RunningService()
            // The time of a start without all this, which depends on the machine and the build.
            let empty = try ContinuousClock().measure { try service.killAndRestart() }
            let imports = try (0..<10).map { number in
                let client = try RawClient(port: service.adminPort)
                let item = Items.user("u\(number)")
                try client.send(
                    "POST /admin/items HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + String(item.utf8.count, radix: 16) + "\r\n\(item)\r\n")
                return client
            }
            let log = "\(service.folder)/audit.log"
            func begun() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: service.folder).filter { $0.hasPrefix("audit") }.reduce(0) {
                    let text = try String(contentsOfFile: "\(service.folder)/\($1)", encoding: .utf8)
                    return $0 + text.components(separatedBy: #""id":""#).count - 1
                }
            }
            try poll { try begun() >= 10 }
            let entry = #"{"method":"PUT","outcome":"done","path":"/admin/items/user/x","time":"2026-01-01T00:00:00Z","who":"x"}"# + "\n"
            // The first part of the file is a hole.
            let file = try #require(FileHandle(forWritingAtPath: log))
            try file.truncate(atOffset: 1 << 30)
            try file.seekToEnd()
            try file.write(contentsOf: Data(("\n" + String(repeating: entry, count: 50_000)).utf8))
            try file.close()
            let full = try ContinuousClock().measure {
                try service.killAndRestart()
                #expect(try service.get("/readyz").status == 200)
            }
            #expect(full < .seconds(1) + empty * 2, "\(full), and \(empty) without them")
            withExtendedLifetime(imports) {}
        }
    }

    @Test("The audit log has incomplete and oversized imports, without a server error")
    func brokenOffAudit() async throws {
        try await offPool {
            let service = try RunningService(settings: [RunningService.tokenSetting, "admin.max-import=64KiB"])
            let head =
                "POST /admin/items HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(RunningService.token)\r\nTransfer-Encoding: chunked\r\n\r\n"
            let items = Items.users(1_000)
            let rests = ["", "nonsense\r\n", String(items.utf8.count, radix: 16) + "\r\n" + items]
            for (number, rest) in rests.enumerated() {
                let client = try RawClient(port: service.adminPort)
                try client.send(head + "1\r\n\n\r\n" + rest)
                if number > 0 { #expect(try client.response(to: "POST").status == [400, 413][number - 1]) }
                client.close()
                try poll { try service.audited().count == number + 1 }
            }
            let entries = try service.audited()
            #expect(entries.compactMap { $0["status"]?.number } == [400, 400, 413])
            #expect(
                entries.compactMap { $0["outcome"]?.text } == [
                    "The body is incomplete.", "The body is incomplete.", "The body is too long.",
                ])
            service.process.signal(SIGTERM)
            while try service.process.nextLine() != nil {}
            #expect(!service.process.lines.contains { $0.contains("request failed") })
        }
    }

    @Test("The audit log has an import timeout with the status of its response")
    func slowAudit() async throws {
        try await offPool {
            let service = try RunningService(settings: ["admin.import-timeout=1s"])
            let client = try RawClient(port: service.adminPort)
            try client.send("POST /admin/items HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{")
            #expect(try client.response(to: "POST").status == 408)
            try poll { try !service.audited().isEmpty }
            let entry = try #require(try service.audited().first)
            #expect(entry["status"]?.number == 408 && entry["outcome"]?.text == "The body of the request took too long.")
        }
    }
}
