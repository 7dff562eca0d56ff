internal import IntertwineFeed
internal import Logging

/// Adds the ledger's events to the report totals periodically, so that a report has few events left to add.
struct LedgerTotals: PeriodicService {
    let archive: any LedgerArchive
    let logger: Logger
    let interval = Duration.seconds(10)

    func perform() async {
        do {
            try await archive.gatherTotals()
        } catch is CancellationError {
            // The events are added after the next start.
        } catch {
            // The events are added in the next round or by the next report.
            logger.warning("totals of reports could not be computed", metadata: ["error": "\(error)"])
        }
    }
}
