import Synchronization
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Name resolution", .timeLimit(.untilStuck))
struct ResolverTests {
    /// A name server whose answers the test releases.
    private final class NameServer: Sendable {
        let asked = EventLog<String>()
        private let gate = Gate()

        func lookup(_ host: String) -> Result<[IPAddress], FetchError> {
            asked.append(host)
            gate.wait()
            return .success(["192.0.2.1"].compactMap(IPAddress.init))
        }

        func release() { gate.open() }
    }

    @Test("Fifty requests for one name are one lookup")
    func coalesced() async {
        let server = NameServer()
        let resolver = Resolver { server.lookup($0) }
        let answers = EventLog<Bool>()
        for _ in 0..<50 {
            _ = resolver.resolve("a.example") { answers.append((try? $0.get()) != nil) }
        }
        await server.asked.wait { $0.count == 1 }
        #expect(resolver.state.withLock { $0.threads } == 1)
        server.release()
        await answers.wait { $0.count == 50 }
        #expect(server.asked.events == ["a.example"])
        #expect(answers.events.allSatisfy { $0 })
    }

    @Test("Threads are bounded, names queue, and names without waiters are not looked up")
    func bounded() async {
        let server = NameServer()
        var configuration = Resolver.Configuration()
        configuration.threads = 2
        configuration.queue = 3
        configuration.stuckAfter = .seconds(100)
        let resolver = Resolver(configuration: configuration) { server.lookup($0) }
        let answers = EventLog<String>()
        var tickets: [Resolver.LookupHandle?] = []
        for host in ["a", "b"] { tickets.append(resolver.resolve(host) { _ in answers.append(host) }) }
        await server.asked.wait { $0.count == 2 }
        for host in ["c", "d", "e"] { tickets.append(resolver.resolve(host) { _ in answers.append(host) }) }
        #expect(resolver.state.withLock { $0.threads } == 2)
        let refused = EventLog<Bool>()
        let none = resolver.resolve("f") { answer in refused.append(answer == .failure(.resolveFailed)) }
        #expect(none == nil && refused.events == [true])
        if let ticket = tickets[3] { resolver.cancel(ticket) }
        server.release()
        await answers.wait { $0.count == 4 }
        #expect(Set(answers.events) == ["a", "b", "c", "e"])
        #expect(Set(server.asked.events) == ["a", "b", "c", "e"])
    }

    @Test("Stuck lookups block only their threads, up to a bound; queued lookups fail with another error")
    func stuck() async {
        let server = NameServer()
        var configuration = Resolver.Configuration()
        configuration.threads = 2
        configuration.mostThreads = 4
        configuration.stuckAfter = .zero
        let resolver = Resolver(configuration: configuration) { server.lookup($0) }
        let answers = EventLog<String>()
        var tickets: [Resolver.LookupHandle] = []
        for (number, host) in ["a", "b", "c", "d", "e"].enumerated() {
            if let ticket = resolver.resolve(host, then: { _ in answers.append(host) }) { tickets.append(ticket) }
            await server.asked.wait { $0.count == min(number + 1, 4) }
        }
        #expect(resolver.state.withLock { $0.threads } == 4)
        #expect(resolver.cancel(tickets[4]))
        #expect(!resolver.cancel(tickets[0]))
        server.release()
        await answers.wait { $0.count == 3 }
        #expect(Set(answers.events) == ["b", "c", "d"])
    }

    @Test("A result is cached for its lifetime")
    func remembered() async {
        let server = NameServer()
        server.release()
        let resolver = Resolver { server.lookup($0) }
        let answers = EventLog<Int>()
        _ = resolver.resolve("a") { _ in answers.append(1) }
        await answers.wait { $0.count == 1 }
        #expect(resolver.resolve("a") { _ in answers.append(2) } == nil)
        #expect(answers.events == [1, 2])
        #expect(server.asked.events.count == 1)
    }

    @Test("The number of cached names is bounded")
    func bound() async {
        var configuration = Resolver.Configuration()
        configuration.remembered = 10
        let asked = Atomic<Int>(0)
        let resolver = Resolver(configuration: configuration) { _ in
            asked.add(1, ordering: .relaxed)
            return .failure(.hostNotFound)
        }
        let answers = EventLog<Int>()
        for number in 0..<100 {
            _ = resolver.resolve("host\(number)") { _ in answers.append(number) }
            await answers.wait { $0.count == number + 1 }
        }
        #expect(asked.load(ordering: .relaxed) == 100)
    }
}
