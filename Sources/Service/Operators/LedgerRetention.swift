internal import Feed
internal import Logging
internal import ServiceLifecycle

/// Removes the ledger's events once they are older than they are to be kept: at the start, and every hour from then on.
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
            while !Task.isCancelled {
                await sweep()
                do { try await Task.sleep(for: interval) } catch { return }
            }
        }
    }

    private func sweep() async {
        do {
            let removed = try await archive.removeEvents(before: now() - retention().milliseconds)
            if removed > 0 { logger.info("removed old events", metadata: ["events": "\(removed)"]) }
        } catch is CancellationError {
            // The rest goes after the next start.
        } catch {
            logger.error("old events could not be removed", metadata: ["error": "\(error)"])
        }
    }
}
