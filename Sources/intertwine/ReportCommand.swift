internal import ArgumentParser
import Foundation
import IntertwineFeed
internal import IntertwinePrimitives
import IntertwineService
import IntertwineStorage

struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Report the totals of impressions, clicks, selections and undos.",
        discussion: "  intertwine report --from 2026-11-01 --to 2026-11-30 --by ad --format csv")

    @OptionGroup var options: SettingOptions

    @Option(help: "First day, in UTC (default: 29 days before the last day).")
    var from: CalendarDay?

    @Option(help: "Last day, in UTC (default: today).")
    var to: CalendarDay?

    @Option(help: "Grouping of the rows.")
    var by = LedgerReport.Grouping.day

    @Option(help: "Second grouping.")
    var thenBy: LedgerReport.Grouping?

    @Option(help: "Time zone of the days: utc or, by campaign and then by day, that of each campaign.")
    var zone = LedgerReport.Query.Zone.utc

    @Option(help: "Output format.")
    var format = ReportFormat.table

    func run() async throws {
        let configuration = try await options.configuration()
        let last = to ?? CalendarDay.today
        let first = from ?? CalendarDay(number: last.number - 29)
        guard first.number <= last.number else { throw ValidationError("--from is later than --to") }
        let ledger = try configuration.existingLedger()
        let prefixes = try configuration.advertisementPrefixes()
        var question = LedgerReport.Query(
            days: Int(first.number)...Int(last.number), by: by, and: thenBy, prefixes: prefixes)
        question.zone = zone
        if let fault = question.error { throw ValidationError(fault) }
        var report: LedgerReport
        do {
            report = LedgerReport(rows: [])
            if let ledger {
                report =
                    try await zone == .campaign
                    ? configuration.campaignReport(byOwnDays: question.days, ledger) : ledger.report(question)
            }
            for campaign in report.unknownZones.sorted() {
                Output.printError("warning: the campaign '\(campaign)' is gone, and its zone with it: its days are left out")
            }
            if question.includesPrice, let ledger {
                let figures = try await configuration.campaignFigures(ledger, now: WallClock.now())
                report.add(figures)
                if question.includesPace { note(figures, besides: report) }
            }
        } catch is LedgerReport.TooManyRowsError {
            throw ValidationError(LedgerReport.TooManyRowsError.advice)
        }
        try Output.put(format.text(of: report, question).utf8)
    }

    private func note(_ figures: [String: CampaignStatistics], besides report: LedgerReport) {
        let shown = Set(report.rows.map { $0.keys[0].text })
        for (campaign, figures) in figures.sorted(by: { $0.key < $1.key }) {
            if let reason = figures.blockage {
                Output.printError("warning: the campaign '\(campaign)' is blocked: \(reason)")
            } else if format == .table, !shown.contains(campaign) {
                Output.printError("the campaign '\(campaign)': nothing counted on these days, \(figures.delivered ?? 0) delivered in all")
            }
        }
    }
}

extension LedgerReport.Grouping: ExpressibleByArgument {}
extension LedgerReport.Query.Zone: ExpressibleByArgument {}

enum ReportFormat: String, CaseIterable, ExpressibleByArgument {
    case table, json, csv

    func text(of report: LedgerReport, _ question: LedgerReport.Query) -> String {
        let rows = report.table(of: question)
        return switch self {
        case .table: Output.table(rows)
        case .csv: report.csv(of: question)
        case .json: "[" + rows.dropFirst().map { Self.object(rows[0], $0) }.joined(separator: ",") + "]\n"
        }
    }

    private static func object(_ names: [String], _ row: [String]) -> String {
        let pairs = zip(names, row).map { name, text in
            let isKey = LedgerReport.Grouping(rawValue: name) != nil
            let value = text.isEmpty && !isKey ? "null" : LedgerReport.hasTexts(name) ? quoted(text) : text
            return "\(quoted(name)):\(value)"
        }
        return "{" + pairs.joined(separator: ",") + "}"
    }

    private static func quoted(_ text: String) -> String {
        String(decoding: JSONValue.text(text).json, as: UTF8.self)
    }
}

extension CalendarDay: ExpressibleByArgument {
    /// Creates a day from an argument such as `2026-11-24`; nil if it is no day.
    public init?(argument: String) {
        self.init(argument)
    }

    static var today: CalendarDay { CalendarDay(ofSecond: WallClock.now() / 1_000) }
}
