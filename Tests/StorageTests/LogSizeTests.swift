import Foundation
import IntertwineFeed
import IntertwineStorage
import TestSupport
import Testing

@Suite("Size of the write-ahead log")
struct LogSizeTests {
    /// The limit of 64 MiB, and what is written while an attempt to restart the log waits.
    private static let bound = 100 << 20

    @Test("Constant reads and writes do not let the write-ahead log of the ledger grow without bound", .timeLimit(.minutes(4)))
    func constantLoad() async throws {
        let scratch = try Scratch()
        let ledger = try scratch.ledger()
        let written = 20_000
        try await withThrowingTaskGroup(of: Void.self) { group in
            // Reads overlap, so that the log is in use at any time.
            for _ in 0..<4 {
                group.addTask {
                    while !Task.isCancelled {
                        _ = try ledger.exposures(of: "nobody", since: 0)
                        _ = try await ledger.report(days: 0...0, by: .day)
                    }
                }
            }
            group.addTask {
                for number in 0..<written {
                    let now = SQLiteLedger.systemTime()
                    let claim = FrequencyCapReservation(
                        viewer: "viewer \(number)", process: "p", counts: ["spring": 1],
                        page: (Int64(number), [UInt8](repeating: 7, count: 8_000)), known: 0, now: now, until: now + 300_000)
                    #expect(try ledger.claim(claim))
                    if number % 500 == 0, try scratch.size("ledger.sqlite-wal") > Self.bound {
                        Issue.record("the log has \(try scratch.size("ledger.sqlite-wal")) bytes after \(number) claims")
                        return
                    }
                }
            }
            // Of the tasks, only the writer ends.
            try await group.next()
            group.cancelAll()
        }
        #expect(try scratch.size("ledger.sqlite") > Self.bound)
    }
}
