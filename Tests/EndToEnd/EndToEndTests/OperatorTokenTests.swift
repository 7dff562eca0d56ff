import Foundation
import TestSupport
import Testing

@Suite("JSON Web Tokens of operators from outside", .timeLimit(.untilStuck))
struct OperatorTokenTests {
    private static let user = #"{"username":"A","avatarUrl":"https://pictures.example.com/a.png","type":"regular"}"#

    private static func service(_ signer: TokenSigner, settings: [String] = [RunningService.tokenSetting]) throws -> RunningService {
        let file = try TokenSigner.file(signer.jwk)
        return try RunningService(
            items: Items.users(3),
            settings: [
                "admin.jwt.keys-file=\(file)", "admin.jwt.audience=feed-admin", "admin.jwt.roles-claim=realm_access.roles",
                "admin.jwt.read-roles=viewer,support", "admin.jwt.edit-roles=editor", "admin.jwt.publish-roles=chief",
            ] + settings)
    }

    private static func fields(_ signer: TokenSigner, _ name: String, _ roles: [String], _ more: [String: Any] = [:]) throws -> [String] {
        let claims: [String: Any] = ["aud": "feed-admin", "realm_access": ["roles": roles]]
        return try signer.fields(name, claims.merging(more) { $1 })
    }

    /// The entries of the audit log without those of the import before the start.
    private static func audit(_ service: RunningService) throws -> [JSON] {
        try service.audited().filter { $0["who"]?.text?.hasPrefix("command:") == false }
    }

    @Test("Each role permits its methods, and the audit log names the subject")
    func roles() async throws {
        try await offPool {
            let signer = try TokenSigner(.es256, id: "k1")
            let service = try Self.service(signer)
            // The first request of a token is verified in a task, the second one uses the cache.
            for round in 0..<2 {
                let people: [(String, [String], Int)] = [
                    ("nobody", [], 0), ("stranger", ["chef"], 0), ("sam", ["support"], 1), ("eve", ["editor"], 2),
                    ("ada", ["x", "viewer", "chief"], 3),
                ]
                for (name, roles, rank) in people {
                    let fields = try Self.fields(signer, name, roles)
                    for path in ["/admin/items/user/u0", "/metrics", "/admin/reports", "/healthz"] {
                        let answer = try service.admin("GET", path, fields: fields)
                        #expect(answer.status == (rank >= 1 ? 200 : 403), "\(round) \(name) \(path)")
                    }
                    let writes = [
                        ("PUT", "/admin/items/user/u7\(name)\(round)", Self.user, 201, 2),
                        ("DELETE", "/admin/items/user/u7\(name)\(round)", "", 204, 2),
                        ("PUT", "/admin/takedowns/user:u1", "", round == 0 ? 201 : 200, 3),
                        ("DELETE", "/admin/takedowns/user:u1", "", 204, 3),
                        ("DELETE", "/admin/viewers/x", "", 200, 3), ("POST", "/admin/items", Items.user("n\(round)"), 200, 2),
                    ]
                    for (method, path, body, status, needed) in writes {
                        let type = path == "/admin/items" ? ["Content-Type: application/x-ndjson"] : []
                        let answer = try service.admin(method, path, fields: fields + type, body: body)
                        let isAllowed = rank >= needed
                        #expect(
                            isAllowed ? answer.status == status || path.contains("takedowns") && answer.status < 300 : answer.status == 403,
                            "\(round) \(name) \(method) \(path): \(answer.status)")
                        guard !isAllowed else { continue }
                        #expect(try JSON(answer.text)["type"]?.text == "/problems/role-required")
                        #expect(answer["www-authenticate"]?.hasPrefix("Bearer error=\"insufficient_scope\"") == true)
                    }
                }
            }
            let lines = try Self.audit(service)
            func count(_ name: String, _ outcome: String) -> Int {
                lines.count { $0["who"]?.text == name && $0["outcome"]?.text == outcome }
            }
            #expect(count("jwt:ada", "done") == 12 && count("jwt:ada", "refused: Forbidden") == 0)
            #expect(count("jwt:eve", "done") == 6 && count("jwt:eve", "refused: Forbidden") == 6)
            for name in ["sam", "stranger", "nobody"] {
                #expect(count("jwt:\(name)", "done") == 0 && count("jwt:\(name)", "refused: Forbidden") == 12, "\(name)")
            }
        }
    }

    @Test("Only the role publish releases an item that is taken down")
    func releases() async throws {
        try await offPool {
            let signer = try TokenSigner(.es256)
            let service = try Self.service(signer)
            let (editor, chief) = (try Self.fields(signer, "eve", ["editor"]), try Self.fields(signer, "ada", ["chief"]))
            #expect(try service.admin("PUT", "/admin/takedowns/user:u9", fields: chief).status == 201)
            let operations = #"{"operations":[{"append":\#(Items.user("u9"))}]}"#
            for _ in 0..<2 {
                let put = try service.admin("PUT", "/admin/items/user/u9", fields: editor, body: Self.user)
                #expect(put.status == 403 && put.text.contains("role-required"))
                #expect(try service.admin("POST", "/admin/operations", fields: editor, body: operations).status == 403)
            }
            #expect(try service.admin("PUT", "/admin/items/user/u8", fields: editor, body: Self.user).status == 201)
            #expect(try service.admin("PUT", "/admin/items/user/u9", fields: chief, body: Self.user).status == 201)
        }
    }

    @Test("The fixed token works beside JSON Web Tokens, with every role")
    func beside() async throws {
        try await offPool {
            let signer = try TokenSigner(.es256)
            let service = try Self.service(signer)
            #expect(try service.admin("PUT", "/admin/takedowns/user:u1").status == 201)
            #expect(try service.admin("GET", "/admin/takedowns", fields: []).status == 401)
            #expect(try Self.audit(service).last?["who"]?.text?.hasPrefix("token:") == true)
            // Without the fixed token, a token is required too, also on a loopback address.
            let only = try Self.service(signer, settings: [])
            #expect(try only.admin("GET", "/admin/takedowns", fields: []).status == 401)
            #expect(try only.admin("GET", "/healthz", fields: []).status == 200)
            #expect(try only.admin("GET", "/admin/takedowns", fields: try Self.fields(signer, "sam", ["viewer"])).status == 200)
        }
    }

    @Test("A wrong or expired token is refused on every path, known or not, and slowed down")
    func wrong() async throws {
        try await offPool {
            let (signer, stranger) = (try TokenSigner(.es256, id: "k1"), try TokenSigner(.es256, id: "k1"))
            let service = try Self.service(signer)
            let forged = try Self.fields(stranger, "ada", ["chief"])
            let expired = try Self.fields(signer, "ada", ["chief"], ["exp": 1_700_000_000])
            let paths = [("GET", "/admin/items/user/u0"), ("GET", "/nowhere"), ("PATCH", "/metrics"), ("PUT", "/admin/items/user/u0")]
            for (fields, reason) in [(forged, "The signature of the token is invalid."), (expired, "The token has expired.")] {
                for (method, path) in paths {
                    let answer = try service.admin(method, path, fields: fields, body: method == "PUT" ? Self.user : "")
                    #expect(answer.status == 401, "\(method) \(path)")
                    #expect(answer["www-authenticate"] == "Bearer error=\"invalid_token\", error_description=\"\(reason)\"")
                }
            }
            for _ in 0..<2 { #expect(try service.admin("GET", "/metrics", fields: expired).status == 401) }
            #expect(try service.admin("GET", "/metrics", fields: forged).status == 429)
            _ = try service.process.line(containing: "wrong ones get 429 for a minute, right ones are accepted")
            // Right tokens still pass, also one that is not known.
            #expect(try service.admin("GET", "/metrics", fields: try Self.fields(signer, "ada", ["chief"])).status == 200)
            #expect(try service.admin("GET", "/metrics").status == 200)
            #expect(try Self.audit(service).isEmpty)
        }
    }

    @Test("An unknown token is verified before the body arrives, and a valid one then gets its body in pieces")
    func verifiedFirst() async throws {
        try await offPool {
            let (signer, stranger) = (try TokenSigner(.es256, id: "k1"), try TokenSigner(.es256, id: "k1"))
            let service = try Self.service(signer)
            func begin(_ signer: TokenSigner, _ name: String, _ path: String, _ length: Int) throws -> RawClient {
                let client = try RawClient(port: service.adminPort)
                let lines = try Self.fields(signer, name, ["chief"]).map { "\($0)\r\n" }.joined()
                try client.send("PUT \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(length)\r\n\(lines)\r\n")
                return client
            }
            // No byte of the body is sent.
            for path in ["/admin/items/user/u7", "/nowhere"] {
                #expect(try begin(stranger, "ada", path, 50_000).response(to: "PUT").status == 401)
            }
            #expect(try Self.audit(service).isEmpty)
            let client = try begin(signer, "ada", "/admin/items/user/u7", Self.user.utf8.count)
            for piece in [Self.user.prefix(20), Self.user.dropFirst(20)] { try client.send(String(piece)) }
            #expect(try client.response(to: "PUT").status == 201)
            #expect(try service.admin("GET", "/admin/items/user/u7").status == 200)
            // A role beyond the hundredth counts.
            let many = try Self.fields(signer, "max", (0..<100).map { "r\($0)" } + ["chief"])
            #expect(try service.admin("PUT", "/admin/takedowns/user:u1", fields: many).status == 201)
        }
    }

    @Test("A body that is too long is recorded with the subject")
    func long() async throws {
        try await offPool {
            let signer = try TokenSigner(.es256)
            let service = try Self.service(signer, settings: ["limits.max-body=1KiB", "admin.max-import=64B"])
            let fields = try Self.fields(signer, "eve", ["editor"])
            #expect(try service.admin("GET", "/metrics", fields: fields).status == 200)
            let body = #"{"reason":"\#(String(repeating: "x", count: 80_000))"}"#
            let chief = try Self.fields(signer, "ada", ["chief"])
            #expect(try service.admin("GET", "/metrics", fields: chief).status == 200)
            #expect(try service.admin("PUT", "/admin/takedowns/user:u1", fields: chief, body: body).status == 413)
            try poll { try !Self.audit(service).isEmpty }
            #expect(try Self.audit(service).first?["who"]?.text == "jwt:ada")
        }
    }
}
