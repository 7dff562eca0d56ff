import Foundation
import TestSupport
import Testing

@Suite("Imports and the audit log, from outside")
struct OperatorImportTests {
    @Test("an import is taken as it arrives, and seen by nobody before it is whole")
    func streamed() async throws {
        try await offPool {
            let service = try RunningService(settings: [RunningService.tokenSetting])
            let client = try RawClient(port: service.adminPort)
            try client.send(
                "POST /admin/items HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer \(RunningService.token)\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n")
            for number in 0..<50 {
                let piece = Items.user("u\(number)")
                // Cut in the middle of an item: pieces are not lines.
                for part in [piece.prefix(40), piece.dropFirst(40)] {
                    try client.send(String(part.utf8.count, radix: 16) + "\r\n" + part + "\r\n")
                }
            }
            #expect(try JSON(try service.get("/feed").text)["items"]?.list.isEmpty == true)
            try client.send("0\r\n\r\n")
            let response = try client.response(to: "POST")
            #expect(response.status == 200)
            #expect(try JSON(response.text)["added"]?.number == 50)
            #expect(try JSON(try service.get("/feed?limit=100").text)["items"]?.list.count == 50)
        }
    }

    @Test("a bad item ends the import and takes it back, or is skipped and named")
    func bad() async throws {
        try await offPool {
            let service = try RunningService(settings: [RunningService.tokenSetting])
            let body = Items.user("a") + #"{"klass":"user","username":"b"}"# + "\n" + Items.user("c")
            let stopped = try service.admin("POST", "/admin/items", body: body)
            #expect(stopped.status == 422)
            #expect(try JSON(stopped.text)["detail"]?.text?.contains("line 2") == true)
            #expect(try JSON(try service.get("/feed").text)["items"]?.list.isEmpty == true)
            let skipped = try JSON(try service.admin("POST", "/admin/items?on-error=skip", body: body).text)
            #expect([skipped["added"]?.number, skipped["skipped"]?.number] == [2, 1])
            #expect(skipped["bad"]?[0]?["line"]?.number == 2)
            let many = String(repeating: "{}\n", count: 500)
            let capped = try JSON(try service.admin("POST", "/admin/items?on-error=skip", body: many).text)
            #expect(capped["skipped"]?.number == 500)
            #expect(capped["bad"]?.list.count == 100)
            #expect(try service.admin("POST", "/admin/items?on-error=perhaps", body: body).status == 400)
            #expect(try service.admin("POST", "/admin/items", body: "").status == 200)
        }
    }

    @Test("an import that breaks off, or is too long, leaves nothing")
    func brokenOff() async throws {
        try await offPool {
            let service = try RunningService(settings: [RunningService.tokenSetting, "admin.import-limit=64KiB"])
            let client = try RawClient(port: service.adminPort)
            try client.send(
                "POST /admin/items HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer \(RunningService.token)\r\nContent-Length: 60000\r\n\r\n"
                    + Items.users(100))
            client.close()
            let long = Items.users(1_000)
            #expect(try service.admin("POST", "/admin/items", body: long).status == 413)
            // Waits until the first one has let go of the store.
            #expect(try service.admin("POST", "/admin/items", body: Items.user("a")).status == 200)
            #expect(try JSON(try service.get("/feed").text)["items"]?.list.count == 1)
        }
    }

    @Test("every write is in the audit log, with who and how it ended; reading is not")
    func audit() async throws {
        try await offPool {
            let service = try RunningService(items: Items.user("a"), settings: [RunningService.tokenSetting])
            _ = try service.admin("GET", "/admin/users/a")
            _ = try service.admin("DELETE", "/admin/users/a")
            _ = try service.admin("DELETE", "/admin/users/a", with: ["If-Match: *"])
            _ = try service.admin("POST", "/admin/items", body: Items.user("b"))
            _ = try service.admin("PUT", "/admin/advertisements/1", body: "{}")
            _ = try service.admin("DELETE", "/admin/images?url=https://pictures.example.com/a.png")
            let text = try String(contentsOfFile: "\(service.folder)/audit.log", encoding: .utf8)
            let entries = try text.split(separator: "\n").map { try JSON(String($0)) }
            #expect(entries.compactMap { $0["status"]?.number } == [428, 204, 200, 422, 204])
            #expect(entries.compactMap { $0["method"]?.text } == ["DELETE", "DELETE", "POST", "PUT", "DELETE"])
            #expect(entries.allSatisfy { $0["who"]?.text?.hasPrefix("token:") == true && $0["time"]?.text != nil })
            #expect(!text.contains(RunningService.token))
        }
    }
}
