import Foundation
import TestSupport
import Testing

@Suite("A power cut, from outside", .timeLimit(.minutes(5)))
struct PowerCutTests {
    private static let user = #"{"username":"A","avatarUrl":"https://pictures.example.com/a.png","type":"regular"}"#

    /// A write, what its answer has to be, and what must be true of a service that starts from what is left then.
    private struct Write {
        var name: String
        var perform: (RunningService) throws -> Bool
        var isThere: (RunningService) throws -> Bool
    }

    private static func put(_ id: String) -> Write {
        Write(
            name: "put \(id)", perform: { try $0.admin("PUT", "/admin/users/\(id)", body: user).status == 201 },
            isThere: { try $0.admin("GET", "/admin/users/\(id)").status == 200 })
    }

    private static func has(_ ids: String..., without gone: String...) -> (RunningService) throws -> Bool {
        { service in
            try ids.allSatisfy { try service.admin("GET", "/admin/users/\($0)").status == 200 }
                && gone.allSatisfy { try service.admin("GET", "/admin/users/\($0)").status == 404 }
        }
    }

    @Test("takes nothing with it whose answer has arrived: items, operations, deletions, imports, actions, the key of links, the audit")
    func nothingIsLost() async throws {
        try await offPool {
            let cut = try PowerCut()
            let settings = [RunningService.tokenSetting]
            let service = try RunningService(in: cut.folder, settings: settings, environment: cut.environment(isFirst: true))
            let link = Self.put("link")
            var click = ""
            let writes = [
                // The first write has no other behind it that would be synced.
                link,
                Write(
                    name: "delete", perform: { try $0.admin("DELETE", "/admin/users/link").status == 204 },
                    isThere: Self.has(without: "link")
                ),
                Write(
                    name: "operations",
                    perform: { service in
                        let item = Self.user.replacing("{\"username", with: "{\"klass\":\"user\",\"id\":\"op\",\"username")
                        let operations = #"[{"append":\#(item)}]"#
                        return try service.admin("POST", "/admin/operations", body: operations).status == 200
                    }, isThere: Self.has("op", without: "link")),
                Write(
                    name: "import over HTTP",
                    perform: {
                        try $0.admin("POST", "/admin/items", body: Items.users(30) + Items.advertisement(1)).status == 200
                    }, isThere: Self.has("u0", "u29", "op")),
                Write(
                    name: "import beside the service",
                    perform: { service in
                        let file = "\(service.folder)/more.ndjson"
                        try Items.user("beside").write(toFile: file, atomically: true, encoding: .utf8)
                        let arguments = ["import", "--config", service.configurationFile, "--database", service.database, file]
                        return try Command.run(arguments, environment: cut.environment(isFirst: false)).code == 0
                    }, isThere: Self.has("beside")),
                Write(
                    name: "dismissal",
                    perform: { try $0.ask("POST", "/cells/user:u1/dismissal", fields: ["User-Agent: t", "X-Viewer-ID: v"]).status == 200 },
                    isThere: { try !$0.get("/feed?limit=50", fields: ["User-Agent: t", "X-Viewer-ID: v"]).text.contains("user:u1\"") }),
                Write(
                    name: "click",
                    perform: { service in
                        let page = try JSON(try service.get("/feed").text)
                        click = page["items"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text ?? ""
                        return try service.get(click).status == 302
                    },
                    // The link is good for whoever signed it: the key is the same.
                    isThere: { try $0.events().contains { $0["kind"]?.text == "click" } && $0.get(click).status == 302 }),
                Self.put("last"),
            ]
            for (number, write) in writes.enumerated() {
                #expect(try write.perform(service), "\(write.name)")
                let left = "\(cut.folder)-\(number)"
                try cut.leave(in: left)
                let after = try RunningService(in: left, settings: settings)
                #expect(try write.isThere(after), "\(write.name)")
                let audit = try FileManager.default.contentsOfDirectory(atPath: left).filter { $0.contains("audit") }
                let lines = try audit.map { try String(contentsOfFile: "\(left)/\($0)", encoding: .utf8) }.joined()
                #expect(lines.contains("/admin/users/link"), "\(write.name)")
            }
        }
    }
}
