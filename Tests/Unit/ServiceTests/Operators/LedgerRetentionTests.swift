import Foundation
import Logging
import Synchronization
import Testing

@testable import IntertwineFeed
@testable import IntertwineService
@testable import IntertwineStorage

@Suite("Ledger retention")
struct LedgerRetentionTests {
    /// Records the moment of each removal and fails the first one.
    private final class Archive: LedgerArchive {
        func erase(viewer: String, owners: [String]) async throws -> ErasedViewer { ErasedViewer() }

        func void(_ selection: EventSelection, isDryRun: Bool) async throws -> [EventSelection.VoidedCount] { [] }

        let moments = Mutex<[Int64]>([])
        let asked: AsyncStream<Int64>.Continuation

        init(_ asked: AsyncStream<Int64>.Continuation) {
            self.asked = asked
        }

        func report(_ question: LedgerReport.Query) async throws -> LedgerReport {
            LedgerReport(rows: [])
        }

        func deliveries(of campaign: String, in spans: Range<Int64>) -> [(span: Int64, kind: LedgerEvent.Kind, count: Int)] { [] }

        func gatherTotals() async throws {}

        func events(after marker: Int64, limit: Int) async throws -> [RecordedEvent] { [] }

        func markers() async throws -> (removed: Int64, last: Int64) { (0, 0) }

        let time = Mutex<RetentionClock?>(nil)

        func passTime(to clock: Int64, after elapsed: Duration) async throws -> RetentionClock {
            time.withLock { time in
                var passed = time ?? RetentionClock(now: clock, clock: clock)
                passed.advance(to: clock, after: elapsed)
                time = passed
                return passed
            }
        }

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

    @Test("Retention removes expired events repeatedly and continues after a failure")
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

    @Test("A forward clock jump removes no recent event, even across restarts")
    func leap() async throws {
        let folder = NSTemporaryDirectory() + "intertwine-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let hour: Int64 = 3_600_000
        let begin = 20_000 * 24 * hour
        var ledger = try SQLiteLedger(path: folder + "/ledger.sqlite", now: { begin })
        func record(_ moment: Int64) async throws {
            _ = try await ledger.commit(LedgerEntry(events: [LedgerEvent(at: moment, kind: .click, cell: "ad:1")]))
        }
        for age in [60, 5, 0] as [Int64] { try await record(begin - age * 24 * hour) }
        // The hourly sweep, with the number of hours that the clock is ahead; a start of the process is optional.
        var hours: Int64 = 0
        func sweep(ahead: Int64, isStart: Bool = false) async throws -> Int {
            if isStart { ledger = try SQLiteLedger(path: folder + "/ledger.sqlite", now: { begin }) } else { hours += 1 }
            let time = try await ledger.passTime(to: begin + (hours + ahead) * hour, after: isStart ? .zero : .seconds(3_600))
            return try await ledger.removeEvents(before: time.now - 40 * 24 * hour)
        }
        #expect(try await sweep(ahead: 0, isStart: true) == 1)
        for ahead in [24 * 365, 6, 48, 24 * 365] as [Int64] {
            #expect(try await sweep(ahead: ahead) == 0)
            // An event with a time ahead does not confirm that time.
            try await record(begin + (hours + ahead) * hour)
            #expect(try await sweep(ahead: ahead, isStart: true) == 0)
            #expect(try await sweep(ahead: ahead) == 0)
        }
        // The clock goes back and jumps again within a week.
        for _ in 0..<160 { #expect(try await sweep(ahead: 24 * 365) == 0) }
        #expect(try await sweep(ahead: 0) == 0)
        for _ in 0..<160 { #expect(try await sweep(ahead: 24 * 365) == 0) }
        // A clock that stays ahead for a week is accepted.
        var removed = 0
        for _ in 0..<10 { removed += try await sweep(ahead: 24 * 365) }
        #expect(removed == 4)
    }

    @Test("On first start, a ledger with events uses the time of its last event", arguments: [0, 23, 25, 24 * 365] as [Int64])
    func firstStart(hours: Int64) {
        var time = RetentionClock(now: 1_000, clock: 1_000 + hours * 3_600_000)
        time.advance(to: 1_000 + hours * 3_600_000, after: .zero)
        #expect((time.now == 1_000) == (hours > 24 || hours == 0))
        #expect((time.unconfirmed != nil) == (hours > 24))
    }

    @Test("Two processes with the same hours do not advance the retention clock faster")
    func twoProcesses() {
        let hour: Int64 = 3_600_000
        var time = RetentionClock(now: 0, clock: 1_000 * hour)
        for half in 1...20 as ClosedRange<Int64> { time.advance(to: (1_000 * hour) + half * hour / 2, after: .seconds(3_600)) }
        #expect(time.now == 10 * hour && time.unconfirmed == 10 * hour)
    }
}
