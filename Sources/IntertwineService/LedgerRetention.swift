internal import IntertwineFeed
internal import IntertwinePrimitives
internal import Logging
internal import ServiceLifecycle

/// Removes the ledger's events once they are older than they are to be kept: at the start, and every hour from then on.
///
/// How old they are is decided by the time that has passed (``RetentionClock``), not by what the clock says at that moment: one sweep under a
/// clock that is a year ahead would remove all there is.
struct LedgerRetention: ServiceLifecycle.Service {
    let archive: any LedgerArchive
    /// Asked each time: it can change.
    let retention: @Sendable () -> Duration
    /// Milliseconds since 1970-01-01 UTC.
    let now: @Sendable () -> Int64
    let logger: Logger
    var interval = Duration.seconds(3_600)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var last: ContinuousClock.Instant?
            while !Task.isCancelled {
                let moment = ContinuousClock.now
                // What could not be told the ledger is told it the next time.
                if await sweep(elapsed: last?.duration(to: moment) ?? .zero) { last = moment }
                do { try await Task.sleep(for: interval) } catch { return }
            }
        }
    }

    /// Whether the ledger knows of the time that has elapsed.
    private func sweep(elapsed: Duration) async -> Bool {
        var isTold = false
        do {
            let time = try await archive.passTime(to: now(), after: elapsed)
            isTold = true
            if let doubted = time.unconfirmed {
                logger.warning(
                    "the clock is ahead of the time that has passed: old events are kept until it has been so for a week",
                    metadata: ["hours-ahead": "\(time.lead / 3_600_000)", "hours-so-far": "\(doubted / 3_600_000)"])
            }
            let removed = try await archive.removeEvents(before: time.now - retention().milliseconds)
            if removed > 0 { logger.info("removed old events", metadata: ["events": "\(removed)"]) }
        } catch is CancellationError {
            // The rest goes after the next start.
        } catch {
            logger.error("old events could not be removed", metadata: ["error": "\(error)"])
        }
        return isTold
    }
}
