import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorageCore

@Suite("Group commit")
struct GroupCommitTests {
    /// A writer to a disk that takes ten milliseconds for each transaction.
    private final class SlowWriter: LedgerGroupWriter {
        static let commitProvesDisk = true
        var hasWaitingCounts: Bool { false }
        var rateCounters: (count: Int, bytes: Int) { (0, 0) }

        func commit(
            _ group: [LedgerUnit], flushes: Bool, until deadline: ContinuousClock.Instant, isLate: (LedgerUnit) -> Bool
        ) throws -> [Result<LedgerReceipt, any Error>] {
            usleep(10_000)
            return group.map { _ in .success(.committed([])) }
        }

        func failure(_ error: any Error) -> GroupFailure { .final(error) }
        func probe() throws {}
        func isPurgeDue() -> Bool { false }
        func isPurgeLate(after group: [LedgerUnit]) -> Bool { false }
        func purge() -> Bool { false }
    }

    private let commits = GroupCommit(SlowWriter(), GroupLimits())

    private func commit() async throws {
        _ = try await withCheckedThrowingContinuation { continuation in
            commits.commit(click()) { continuation.resume(with: $0) }
        }
    }

    /// Commits units of clients that each wait for one unit before the next.
    private func run(clients: Int, units: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<clients {
                group.addTask { for _ in 0..<units { try await commit() } }
            }
            try await group.waitForAll()
        }
    }

    @Test("Clients that wait for their units share transactions")
    func gathering() async throws {
        try await run(clients: 8, units: 20)
        let statistics = commits.statistics
        #expect(statistics.units == 160 && statistics.largestGroup == 8)
        // Two halves in turn need 40 transactions.
        #expect(statistics.commits < 36)
    }

    @Test("Units do not wait for clients that do not return")
    func leaving() async throws {
        try await run(clients: 8, units: 1)
        let begun = ContinuousClock.now
        try await run(clients: 1, units: 20)
        #expect(begun.duration(to: .now) < MachineSpeed.bound(.milliseconds(600)))
        #expect(commits.statistics.units == 28)
    }
}
