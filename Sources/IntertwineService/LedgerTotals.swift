internal import IntertwineFeed
internal import Logging
internal import ServiceLifecycle

/// Adds the ledger's events to the totals of its reports every now and then, so that no report has many left to add.
struct LedgerTotals: ServiceLifecycle.Service {
    private let archive: any LedgerArchive
    private let logger: Logger
    private var interval = Duration.seconds(10)
    /// Rounds after which the sketches of viewers are written, which are the more to write the more often they are.
    private let viewersEvery = 6

    init(archive: any LedgerArchive, logger: Logger) {
        self.archive = archive
        self.logger = logger
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var round = 0
            while !Task.isCancelled {
                do { try await Task.sleep(for: interval) } catch { return }
                round += 1
                do {
                    try await archive.gatherTotals(withViewers: round.isMultiple(of: viewersEvery))
                } catch is CancellationError {
                    return
                } catch {
                    // They are gathered the next time, or for the next report.
                    logger.warning("totals for reports could not be gathered", metadata: ["error": "\(error)"])
                }
            }
        }
    }
}
