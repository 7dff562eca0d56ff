import IntertwineTesting
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineService

@Suite("Refusals of commands and routes", .timeLimit(.untilStuck))
struct RefusalTests {
    /// Refuses each action with the reason in `refusal`.
    private struct RefusingCommand: Command {
        let name = "refuse"
        let refusal: Refusal
        var refusals: [Refusal] { [refusal] }

        func perform(in context: inout CommandContext) async throws { throw refusal }
    }

    /// Puts a cell on a list, and refuses its undo.
    private struct FinalCommand: UndoableCommand {
        let name = "vote"
        let needs: CommandRequirements = .viewer

        func perform(in context: inout CommandContext) async throws {
            try context.put(on: "voted")
        }

        func undo(_ record: [UInt8], in context: inout CommandContext) async throws { throw Refusal(.forbidden, "A vote is final.") }
    }

    private struct Problem: Decodable {
        var type: String, detail: String, status: Int, instance: String
    }

    private func service(
        _ refusal: Refusal, policy: String = "stop", _ body: @Sendable (TestService) async throws -> Void
    ) async throws {
        try await TestService.run(
            items: sampleItems(users: 1),
            settings: ["actions.user.selection": "analytics,save,refuse", "actions.on-failure": policy],
            extensions: ServiceExtensions(commands: [RefusingCommand(refusal: refusal)]), body)
    }

    @Test("The client receives the status and the reason of a refusal", arguments: Refusal.Status.allCases)
    func statuses(status: Refusal.Status) async throws {
        try await service(Refusal(status, "Already liked.", retryAfter: .milliseconds(1_500))) { service in
            let answer = try await service.client.post("/cells/user:0/selection", fields: ["X-Viewer-ID": "v"])
            #expect(answer.status == status.rawValue && answer["content-type"] == "application/problem+json")
            #expect(answer["retry-after"] == "2")
            let problem = try answer.decoded(as: Problem.self)
            #expect(problem.type == "/problems/refused" && problem.detail == "Already liked." && problem.status == status.rawValue)
        }
    }

    @Test("Nothing of a refused action is committed, under any failure policy", arguments: ["stop", "continue", "compensate"])
    func effects(policy: String) async throws {
        try await service(Refusal(.conflict, "Already liked."), policy: policy) { service in
            let viewer = ["X-Viewer-ID": "v"]
            for key in ["a", "a", "b"] {
                let fields = viewer.merging(["Idempotency-Key": key]) { $1 }
                let answer = try await service.client.post("/cells/user:0/selection", fields: fields)
                #expect(answer.status == 409)
            }
            let saved = try await service.client.get("/saved", fields: viewer)
            #expect(saved.status == 200 && !saved.text.contains("user:0"))
            let report = try await service.operators.get("/admin/reports")
            #expect(report.status == 200 && !report.text.contains("selection\""))
        }
    }

    @Test("A refused undo reverts nothing")
    func undo() async throws {
        try await TestService.run(
            items: sampleItems(users: 1), settings: ["actions.user.selection": "vote"],
            extensions: ServiceExtensions(commands: [FinalCommand()])
        ) { service in
            let viewer = ["X-Viewer-ID": "v"]
            struct Answer: Decodable { let undo: Undo }
            struct Undo: Decodable { let href: String }
            let href = try await service.client.post("/cells/user:0/selection", fields: viewer).decoded(as: Answer.self).undo.href
            let answer = try await service.client.delete(href, fields: viewer)
            #expect(answer.status == 403 && answer.text.contains("A vote is final."))
        }
    }

    @Test("The API description lists the refusals of commands")
    func description() async throws {
        for status in [Refusal.Status.conflict, .forbidden, .tooManyRequests] {
            try await service(Refusal(status, "Already liked.")) { service in
                struct Document: Decodable { let paths: [String: [String: Operation]] }
                struct Operation: Decodable { let responses: [String: Response] }
                struct Response: Decodable { let content: [String: Content]? }
                struct Content: Decodable { let examples: [String: Example]? }
                struct Example: Decodable { let value: Value }
                struct Value: Decodable { let detail: String }
                let document = try await service.client.get("/openapi.json").decoded(as: Document.self)
                let response = document.paths["/cells/{id}/{slot}"]?["post"]?.responses["\(status.rawValue)"]
                let examples = try #require(response?.content?["application/problem+json"]?.examples)
                #expect(examples.values.contains { $0.value.detail == "Already liked." })
                #expect(status == .conflict || examples.count > 1)
            }
        }
    }

    @Test("A route refuses a request", arguments: TestService.Transport.allCases)
    func route(way: TestService.Transport) async throws {
        var extensions = ServiceExtensions()
        extensions.routes = [
            ServiceRoute(.get, "/polls/{id}") { _, _ in throw Refusal(.gone, "The poll is closed.") }
        ]
        try await TestService.run(way, extensions: extensions) { service in
            let answer = try await service.client.get("/polls/1")
            #expect(answer.status == 410 && answer.text.contains("The poll is closed."))
        }
    }
}
