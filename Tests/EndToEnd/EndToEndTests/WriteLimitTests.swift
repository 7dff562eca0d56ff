import Foundation
import TestSupport
import Testing

/// Rate limits of writes by unknown clients.
@Suite("Rate limits of writes from outside")
struct WriteLimitTests {
    private static let agent = "User-Agent: tests"

    private static func verdicts(_ service: RunningService) throws -> [String] {
        try service.admin("GET", "/admin/reports?by=verdict&format=csv").text.components(separatedBy: "\r\n")
    }

    @Test("Anonymous selections beyond the rate limit of an address return 429 and are only counted")
    func selections() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2), settings: ["limits.requests-per-connection=10000"])
            let client = try RawClient(port: service.port)
            let begun = ContinuousClock.now
            var statuses: [Int: Int] = [:]
            for number in 0..<3_000 {
                // Idempotency keys, viewer ids and user agents do not circumvent the rate limit.
                let key = number % 3 == 0 ? [] : ["Idempotency-Key: \(number % 3 == 1 ? "one" : "\(number)")"]
                let viewer = number % 2 == 0 ? [] : ["X-Viewer-ID: v\(number)"]
                let answer = try RunningService.ask(
                    client, "POST", "/cells/user:u1/selection", fields: ["User-Agent: tests/\(number)"] + key + viewer)
                statuses[answer.status, default: 0] += 1
                guard answer.status == 429 else { continue }
                #expect(answer["retry-after"].flatMap { Int($0) }.map { (1...60).contains($0) } == true)
                #expect(answer["cache-control"] == "no-store" && answer.text.contains("/problems/rate-limited"))
            }
            let seconds = Int(begun.duration(to: .now).components.seconds) + 1
            let refused = try #require(statuses[429])
            #expect(statuses[200, default: 0] + statuses[422, default: 0] <= 600 + 10 * seconds, "\(statuses)")
            #expect(try service.events().count <= 600 + 10 * seconds)
            #expect(try Self.verdicts(service).contains { $0.hasPrefix("limited,0,0,\(refused),") })
        }
    }

    @Test("Each viewer has a rate limit across addresses, and each address has another limit")
    func viewers() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(2),
                settings: ["limits.writes-per-viewer=3", "limits.writes-per-address=5"])
            func select(_ address: Int, _ viewer: String?) throws -> Int {
                let fields = [Self.agent, "X-Forwarded-For: 203.0.113.\(address)"] + (viewer.map { ["X-Viewer-ID: \($0)"] } ?? [])
                return try service.ask("POST", "/cells/user:u1/selection", fields: fields).status
            }
            #expect(try (0..<5).map { try select($0, "ann") } == [200, 200, 200, 429, 429])
            #expect(try (0..<6).map { try select(9, "v\($0)") } == [200, 200, 200, 200, 200, 429])
            #expect(try select(8, nil) == 200 && select(4, "bob") == 200)
        }
    }

    @Test("Every route that writes has a rate limit")
    func routes() async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(3) + Items.advertisements(1), settings: ["limits.writes-per-address=1"])
            let routes: [(String, String, String)] = [
                ("POST", "/cells/user:u1/selection", ""), ("DELETE", "/cells/user:u1/selection", ""),
                ("POST", "/cells/user:u1/dismissal", ""),
                ("POST", "/cells/user:u1/like", ""), ("DELETE", "/invocations/x", ""), ("DELETE", "/saved/user:u1", ""),
                ("DELETE", "/dismissed/user:u1", ""), ("POST", "/events", #"{"events":[]}"#), ("PUT", "/clients/app", #"{"cells":"*"}"#),
            ]
            for (number, (method, path, body)) in routes.enumerated() {
                let fields = [Self.agent, "X-Viewer-ID: v\(number)", "X-Forwarded-For: 203.0.113.\(number)"]
                let statuses = try (0..<3).map { _ in try service.ask(method, path, fields: fields, body: body).status }
                #expect(statuses[0] != 429 && statuses[1...] == [429, 429], "\(method) \(path) \(statuses)")
                guard path.hasPrefix("/cells") else { continue }
                let simulated = try service.ask(method, path + "?dryRun=true", fields: fields)
                #expect(simulated.status != 429, "what writes nothing is not limited")
            }
            // Every new route that writes needs a rate limit.
            let description = try JSON(try service.get("/openapi.json").text)
            let paths = try #require(description["paths"]?.value as? [String: [String: Any]])
            let unlimited = paths.flatMap { path, operations in
                operations.filter { method, operation in
                    let responses = (operation as? [String: Any])?["responses"] as? [String: Any]
                    let limit = (responses?["429"] as? [String: Any])?["$ref"] as? String
                    return !["get", "head"].contains(method) && limit != "#/components/responses/TooManyWrites"
                }.map { "\($0.key) \(path)" }
            }
            let changes = ["/feed/changes", "/feeds/{name}/changes", "/feeds/{name}/sections/{section}/changes"]
            #expect(Set(unlimited) == Set(changes.map { "post \($0)" } + ["delete /images/requests/{id}", "post /images/viewport"]))
            #expect(try Self.verdicts(service).contains { $0.hasPrefix("limited,2,0,2,2,2,0,6,") })
        }
    }

    @Test("Clicks beyond the rate limit redirect and add a bounded number of rows")
    func clicks() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(2) + Items.advertisements(1))
            let page = try JSON(try service.get("/feed").text)
            let link = try #require(page["cells"]?.list.first { $0["id"]?.text == "ad:1" }?["actions"]?["selection"]?["href"]?.text)
            let client = try RawClient(port: service.port)
            for number in 0..<900 {
                #expect(try RunningService.ask(client, "GET", link, fields: ["User-Agent: tests/\(number)"]).status == 302)
            }
            #expect(try service.events().count <= 2 * 630)
        }
    }
}
