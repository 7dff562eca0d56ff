import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IntertwineService
@testable import IntertwineStorage

@Suite("One complete snapshot at any time", .timeLimit(.untilStuck))
struct ConsistencyTests {
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
