internal import IntertwineFeed
internal import IntertwinePrimitives
internal import Logging

/// Removes the ledger's events after their retention time, at the start and every hour.
/// The age of events is measured by ``RetentionClock``, which counts elapsed time. Why: a single run under a clock that is a year ahead
/// would remove all events.
struct LedgerRetention: PeriodicService {
    let archive: any LedgerArchive
    let retention: @Sendable () -> Duration
    /// Returns milliseconds since 1970-01-01 UTC.
    let now: @Sendable () -> Int64
    let logger: Logger
    var interval: Duration = .seconds(3_600)
    let startsAtOnce = true
    private(set) var last: ContinuousClock.Instant?

    mutating func perform() async {
        let moment = ContinuousClock.now
        // If the ledger could not record the elapsed time, the next run includes it.
        if await sweep(elapsed: last?.duration(to: moment) ?? .zero) { last = moment }
    }

    private func sweep(elapsed: Duration) async -> Bool {
        var isReported = false
        do {
            let time = try await archive.passTime(to: now(), after: elapsed)
            isReported = true
            if let doubted = time.unconfirmed {
                logger.warning(
                    "the clock is ahead of elapsed time: old events are retained until it has been ahead for a week",
                    metadata: ["hours-ahead": "\(time.lead / 3_600_000)", "hours-so-far": "\(doubted / 3_600_000)"])
            }
            let removed = try await archive.removeEvents(before: time.now - retention().milliseconds)
            if removed > 0 { logger.info("removed old events", metadata: ["events": "\(removed)"]) }
        } catch is CancellationError {
            // The remaining events are removed after the next start.
        } catch {
            logger.error("old events could not be removed", metadata: ["error": "\(error)"])
        }
        return isReported
    }
}
