import Synchronization
import Testing

@testable import IntertwineHTTPServer

@Suite("Lazy responses")
struct LazyResponseTests {
    @Test("The first request renders and caches the content")
    func once() async throws {
        let made = Atomic(0)
        let content = LazyResponse {
            Route.encoded("/x", type: "text/plain", [UInt8(made.add(1, ordering: .relaxed).newValue)])
        }
        #expect(made.load(ordering: .relaxed) == 0)
        let first = content.response
        #expect(content.response === first && made.load(ordering: .relaxed) == 1)
    }

    @Test("Concurrent requests share one response")
    func race() async {
        let content = LazyResponse { Route.encoded("/x", type: "text/plain", [1]) }
        let all = await withTaskGroup(of: ObjectIdentifier.self, returning: Set<ObjectIdentifier>.self) { group in
            for _ in 0..<64 { group.addTask { ObjectIdentifier(content.response) } }
            return await group.reduce(into: []) { $0.insert($1) }
        }
        #expect(all == [ObjectIdentifier(content.response)])
    }
}
