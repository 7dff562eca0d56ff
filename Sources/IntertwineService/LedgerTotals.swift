internal import IntertwineLedger
internal import Logging

/// Adds the ledger's events to the report totals periodically, so that a report has few events left to add.
struct LedgerTotals: PeriodicService {
    private let archive: any LedgerArchive
    private let logger: Logger
    let interval = Duration.seconds(10)
    /// The number of rounds between writes of viewer sketches. Why: they are rewritten as a whole.
    private let viewersEvery = 6
    private var round = 0

    init(archive: any LedgerArchive, logger: Logger) {
        self.archive = archive
        self.logger = logger
    }

    mutating func perform() async {
        round += 1
        do {
            try await archive.gatherTotals(withViewers: round.isMultiple(of: viewersEvery))
        } catch is CancellationError {
            // The events are added after the next start.
        } catch {
            // The events are added in the next round or by the next report.
            logger.warning("totals of reports could not be computed", metadata: ["error": "\(error)"])
        }
    }
}
