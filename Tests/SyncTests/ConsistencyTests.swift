import Foundation
import IntertwineStorage
import IntertwineSync
import Synchronization
import TestSupport
import Testing

@Suite("One complete snapshot at any time", .timeLimit(.minutes(2)))
struct ConsistencyTests {
    @Test("A list that changes between two of its pages is read again", arguments: [true, false])
    func changesWhileRead(hasValidators: Bool) async throws {
        let api = try Api((1...9).map { "a\($0)" }) { $0.hasValidators = hasValidators }
        defer { api.origin.stop() }
        let house = try House(api.origin)
        try await house.run()
        api.publish((1...9).map { "a\($0)" })
        let first = api.state.withLock { $0.requests }
        api.change { state in
            // In the middle of the next reading, once, the list becomes another one.
            state.before = { number, state in
                guard number == first + 3 else { return }
                state.version += 1
                state.ids = (1...9).map { $0 < 4 ? "a\($0)" : "b\($0)" } + ["c"]
            }
        }
        house.change { $0.removable = 1 }
        try await house.run()
        let users = try await house.users()
        #expect(Set(users.map(\.name)) == ["v3"])
        #expect(users.map(\.id) == (1...3).map { "a\($0)" } + (4...9).map { "b\($0)" } + ["c"])
        await house.stop()
    }

    @Test("A list that always changes is rejected, or read without verification if configured")
    func neverStill() async throws {
        let api = try Api((1...9).map { "a\($0)" })
        defer { api.origin.stop() }
        let house = try House(api.origin)
        try await house.run()
        api.change { $0.before = { _, state in state.version += 1 } }
        #expect(try await house.failure() == "the pages changed while they were read, 3 times in a row")
        house.change { $0.isVerified = false }
        #expect(try await house.run().items == 9)
        await house.stop()
    }

    @Sendable
    private static func cutOff(_ request: Origin.Request, _ connection: OriginConnection) -> Bool {
        guard request.path.hasSuffix("=4") else { return false }
        connection.answer(200, body: Array(#"{"data":{"users":["#.utf8))
        return true
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .relaxed) }
        func set() { value.store(true, ordering: .relaxed) }
    }

    @Test("Readers during a synchronization see one version completely")
    func hammered() async throws {
        let count = 400
        let ids = { (version: Int) in (0..<count).map { $0 < count / 2 ? "s\($0)" : "v\(version)-\($0)" } }
        let api = try Api(ids(1)) { $0.perPage = 50 }
        defer { api.origin.stop() }
        let house = try House(api.origin) { $0.removable = 1 }
        try await house.run()
        let isOver = Flag()
        let readers = (0..<3).map { _ in
            Task {
                var seen: Set<String> = []
                while !isOver.isSet {
                    let users = try await house.users()
                    let names = Set(users.map(\.name))
                    // All of one version, and none missing.
                    #expect(names.count == 1 && users.count == count, "\(names.sorted()) \(users.count)")
                    seen.formUnion(names)
                    await Task.yield()
                }
                return seen
            }
        }
        for version in 2...15 {
            api.publish(ids(version))
            // Every third time the origin fails half way.
            let fails = version % 3 == 0
            api.change { $0.instead = fails ? Self.cutOff : nil }
            _ = try? await house.run()
        }
        isOver.set()
        var seen: Set<String> = []
        for reader in readers { seen.formUnion(try await reader.value) }
        #expect(seen.count > 1)
        #expect(!seen.contains("v6") && !seen.contains("v9"))
        #expect(Set(try await house.users().map(\.name)) == ["v14"])
        await house.stop()
    }
}
