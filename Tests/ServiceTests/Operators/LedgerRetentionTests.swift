import Feed
import Foundation
import Logging
import Synchronization
import Testing

@testable import Service

@Suite("Ledger retention")
struct LedgerRetentionTests {
    /// Remembers what it was asked to remove, and fails the first time.
    private final class Archive: LedgerArchive {
        let moments = Mutex<[Int64]>([])
        let asked: AsyncStream<Int64>.Continuation

        init(_ asked: AsyncStream<Int64>.Continuation) {
            self.asked = asked
        }

        func report(days: ClosedRange<Int>, by grouping: LedgerReport.Grouping, prefixes: [String]) async throws -> LedgerReport {
            LedgerReport(rows: [])
        }

        func events(after marker: Int64, limit: Int) async throws -> [RecordedEvent] { [] }

        func removeEvents(before moment: Int64) async throws -> Int {
            let isFirst = moments.withLock { moments in
                moments.append(moment)
                return moments.count == 1
            }
            asked.yield(moment)
            if isFirst { throw StoreError.unavailable("locked") }
            return 3
        }
    }

    @Test("removes what is older than is to be kept, again and again, and goes on after a failure")
    func sweeps() async throws {
        let (asked, continuation) = AsyncStream.makeStream(of: Int64.self)
        let day = Mutex(Int64(400))
        let retention = LedgerRetention(
            archive: Archive(continuation), retention: { .seconds(day.withLock { $0 } * 86_400) }, now: { 1_000 * 86_400_000 },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, interval: .milliseconds(1))
        let task = Task { try await retention.run() }
        var moments = asked.makeAsyncIterator()
        #expect(await moments.next() == 600 * 86_400_000)
        day.withLock { $0 = 300 }
        while let moment = await moments.next(), moment != 700 * 86_400_000 {}
        task.cancel()
        try await task.value
    }
}
