import HTTPTypes
import Testing

@testable import IntertwineFeed
@testable import IntertwineHTTPServer
@testable import IntertwineService

@Suite("Responses stored under an idempotency key")
struct StoredResponseTests {
    @Test("A stored response decodes to the response that was encoded", arguments: [Verdict.duplicate, nil], ["https://a.example/", nil])
    func roundTrip(verdict: Verdict?, location: String?) throws {
        for language in ["pt-BR", nil] {
            let answer = StoredResponse(
                status: .seeOther, verdict: verdict, location: location, language: language, body: Array("{\n}\n".utf8))
            #expect(try StoredResponse(answer.bytes) == answer)
        }
    }

    @Test("A redirect stored by an earlier version is sent unchanged")
    func redirect() throws {
        let answer = try StoredResponse(Array("303 counted\nhttps://a.example/\n{\"selection\":\"x\"}".utf8)).response()
        #expect(answer.status == .seeOther && answer.fields[.location] == "https://a.example/")
    }

    @Test("A response stored without a verdict can still be decoded")
    func withoutVerdict() throws {
        let answer = try StoredResponse(Array("200\n\n{}".utf8))
        #expect(answer == StoredResponse(status: .ok, verdict: nil, body: Array("{}".utf8)))
    }

    @Test("A corrupt stored response is rejected", arguments: ["", "\n\n", "200", "200\n", "x\n\n", "99\n\n", " \n\n"])
    func damaged(text: String) {
        #expect(throws: Problem.self) { try StoredResponse(Array(text.utf8)) }
    }
}
