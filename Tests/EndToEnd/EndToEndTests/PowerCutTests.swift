import Foundation
import TestSupport
import Testing

@Suite("Power cuts from outside", .onlyInFull, .timeLimit(.untilStuck))
struct PowerCutTests {
    private static let user = #"{"username":"A","avatarUrl":"https://pictures.example.com/a.png","type":"regular"}"#

    /// A write, and a check of a service that starts from the files after the power cut.
    private struct Write {
        var name: String
        var perform: (RunningService) throws -> Bool
        var isThere: (RunningService) throws -> Bool
    }

    private static func put(_ id: String) -> Write {
        Write(
            name: "put \(id)", perform: { try $0.admin("PUT", "/admin/items/user/\(id)", body: user).status == 201 },
            isThere: { try $0.admin("GET", "/admin/items/user/\(id)").status == 200 })
    }

    private static func has(_ ids: String..., without gone: String...) -> (RunningService) throws -> Bool {
        { service in
            try ids.allSatisfy { try service.admin("GET", "/admin/items/user/\($0)").status == 200 }
                && gone.allSatisfy { try service.admin("GET", "/admin/items/user/\($0)").status == 404 }
        }
    }

    private static let sections = """
        kinds:
          club:
            fields: {name: {type: text, required: true}}
            cells: {collection: {identifier: ClubCell, size: 300x160, bind: {name: {text: name}}}}
        sections:
          clubs: {title: Clubs, kinds: [club]}
        feeds:
          agenda: [clubs]
        """

    private static func club(_ id: String) -> String { "{\"kind\":\"club\",\"id\":\"\(id)\",\"name\":\"\(id)\"}\n" }

    private static func agenda(has ids: String...) -> (RunningService) throws -> Bool {
        { service in
            let page = try JSON(try service.get("/feeds/agenda").text)
            return ids.allSatisfy { id in page["cells"]?.list.contains { $0["id"]?.text == "club:\(id)" } ?? false }
        }
    }

    /// Runs a command on the store of the running service.
    private static func command(_ words: [String], _ settings: [String], _ cut: PowerCut, _ service: RunningService) throws -> Bool {
        let options = ["--config", service.configurationFile, "--database", service.database] + settings.flatMap { ["--set", $0] }
        let (name, rest) = (words.prefix(1), words.dropFirst())
        return try Command.run(name + options + rest, environment: cut.environment(isFirst: false)).code == 0
    }

    @Test("A power cut loses no answered write, no signing key and no audit entry")
    func nothingIsLost() async throws {
        try await offPool {
            let cut = try PowerCut()
            let declarations = "\(cut.folder)-declared"
            try FileManager.default.createDirectory(atPath: declarations, withIntermediateDirectories: true)
            try Self.sections.write(toFile: "\(declarations)/kinds.yaml", atomically: true, encoding: .utf8)
            let origin = try Origin { _, connection in
                let people = (0..<20).map { #"{"key":"s\#($0)","name":"v","face":"https://example.com/\#($0).png"}"# }
                connection.answer(200, [], body: Array("{\"people\":[\(people.joined(separator: ","))]}".utf8))
            }
            defer { origin.stop() }
            try """
            sources:
              people:
                url: \(origin.url("/people"))
                kind: user
                every: 1h
                items: /people
                fields: {id: key, username: name, avatarUrl: face, type: {value: regular}}
            """.write(toFile: "\(declarations)/sources.yaml", atomically: true, encoding: .utf8)
            let sources = [
                "sources.file=\(declarations)/sources.yaml", "sources.allowed-networks=127.0.0.1/32",
                "sources.allowed-ports=\(origin.port)",
            ]
            // A service with these sources would fetch their items again at the start.
            let settings = [RunningService.tokenSetting, "kinds.file=\(declarations)/kinds.yaml"]
            let service = try RunningService(in: cut.folder, settings: settings, environment: cut.environment(isFirst: true))
            let link = Self.put("link")
            var click = ""
            let writes = [
                // The first write has no later write whose sync would also make it durable.
                link,
                Write(
                    name: "delete", perform: { try $0.admin("DELETE", "/admin/items/user/link").status == 204 },
                    isThere: Self.has(without: "link")
                ),
                Write(
                    name: "operations",
                    perform: { service in
                        let item = Self.user.replacing("{\"username", with: "{\"kind\":\"user\",\"id\":\"op\",\"username")
                        let operations = #"{"operations":[{"append":\#(item)}]}"#
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
                        try (Items.user("beside") + Self.club("b")).write(toFile: file, atomically: true, encoding: .utf8)
                        return try Self.command(["import", file], Array(settings.dropFirst()), cut, service)
                    },
                    isThere: { try Self.has("beside")($0) && Self.agenda(has: "b")($0) }
                ),
                Write(
                    name: "import over HTTP into a section",
                    perform: { try $0.admin("POST", "/admin/items", body: Self.club("a") + Self.club("c")).status == 200 },
                    isThere: Self.agenda(has: "a", "b", "c")),
                Write(
                    name: "sync beside the service",
                    perform: { try Self.command(["sync", "people"], settings.dropFirst() + sources, cut, $0) },
                    isThere: Self.has("s0", "s19", "u29", "beside")),
                Write(
                    name: "dismissal",
                    perform: { try $0.ask("POST", "/cells/user:u1/dismissal", fields: ["User-Agent: t", "X-Viewer-ID: v"]).status == 200 },
                    isThere: { try !$0.get("/feed?limit=50", fields: ["User-Agent: t", "X-Viewer-ID: v"]).text.contains("user:u1\"") }),
                Write(
                    name: "click",
                    perform: { service in
                        let page = try JSON(try service.get("/feed").text)
                        click = page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text ?? ""
                        return try service.get(click).status == 302
                    },
                    // The link is valid only with the same signing key.
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
                #expect(lines.contains("/admin/items/user/link"), "\(write.name)")
            }
        }
    }
}
