internal import IntertwineLedger
internal import Logging
internal import ServiceLifecycle

/// Adds the ledger's events to the report totals periodically, so that a report has few events left to add.
struct LedgerTotals: ServiceLifecycle.Service {
    private let archive: any LedgerArchive
    private let logger: Logger
    private var interval = Duration.seconds(10)
    /// The number of rounds between writes of viewer sketches. Why: they are rewritten as a whole.
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
                    // The events are added in the next round or by the next report.
                    logger.warning("totals of reports could not be computed", metadata: ["error": "\(error)"])
                }
            }
        }
    }
}
