import ArgumentParser
import Foundation
import IntertwineFeed
import IntertwinePrimitives
import IntertwineService
import IntertwineStorage

struct Report: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Count impressions, clicks, selections and undo, from the ledger's totals.",
        discussion: "  intertwine report --from 2026-11-01 --to 2026-11-30 --by ad --format csv")

    @OptionGroup var options: SettingOptions

    @Option(help: "First day, in UTC (default: 30 days ago).")
    var from: CalendarDay?

    @Option(help: "Last day, in UTC (default: today).")
    var to: CalendarDay?

    @Option(help: "What the rows are.")
    var by = LedgerReport.Grouping.day

    @Option(help: "How they are written.")
    var format = ReportFormat.table

    func run() async throws {
        let configuration = try await options.configuration()
        let last = to ?? CalendarDay.today
        let first = from ?? CalendarDay(number: last.number - 29)
        guard first.number <= last.number else { throw ValidationError("--from is later than --to") }
        let ledger = try SQLiteLedger(of: configuration.store)
        let prefixes = try configuration.advertisementPrefixes()
        let report =
            try await ledger?.report(days: Int(first.number)...Int(last.number), by: by, prefixes: prefixes) ?? LedgerReport(rows: [])
        try Output.put(format.text(of: report, by: by).utf8)
    }
}

extension LedgerReport.Grouping: ExpressibleByArgument {}
