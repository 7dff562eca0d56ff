import IntertwineTesting
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineService

@Suite("Failed commands", .timeLimit(.untilStuck))
struct FailedCommandTests {
    private struct BrokenCommand: Command {
        struct Failure: Error {}

        let name = "break"

        func perform(in context: inout CommandContext) async throws { throw Failure() }
    }

    private struct Problem: Decodable, Equatable {
        struct Invocation: Decodable, Equatable { var id: String }
        struct Step: Decodable, Equatable { var command: String, outcome: String }

        var type: String
        var invocation: Invocation
        var commands: [Step]
        var instance: String
    }

    @Test("A failed command returns a problem with outcomes; a repeated request gets the same response")
    func failure() async throws {
        try await TestService.run(
            items: sampleItems(users: 1), settings: ["actions.user.selection": "break"],
            extensions: ServiceExtensions(commands: [BrokenCommand()])
        ) { service in
            let key = ["X-Viewer-ID": "v", "Idempotency-Key": "k"]
            let first = try await service.client.post("/cells/user:0/selection", fields: key)
            #expect(first.status == 422 && first["content-type"] == "application/problem+json")
            let problem = try first.decoded(as: Problem.self)
            #expect(problem.type == "/problems/command-failed" && !problem.invocation.id.isEmpty)
            #expect(problem.commands == [Problem.Step(command: "break", outcome: "failed")])
            #expect(problem.instance.hasPrefix("urn:intertwine:request:"))
            let again = try await service.client.post("/cells/user:0/selection", fields: key)
            #expect(again.status == 422 && again.body == first.body)
        }
    }
}
