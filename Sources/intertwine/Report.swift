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

/// How a report is written.
enum ReportFormat: String, CaseIterable, ExpressibleByArgument {
    case table, json, csv

    private static let counted: [LedgerEvent.Kind] = [.impression, .click, .selection, .deselection, .dismissal, .save, .undo]

    func text(of report: LedgerReport, by grouping: LedgerReport.Grouping) -> String {
        let names = [grouping.rawValue] + Self.counted.map { "\($0.rawValue)s" } + ["ctr"]
        let rows = report.rows.map { row in
            [Self.name(of: row.key)] + Self.counted.map { String(row.counts[$0] ?? 0) } + [row.clickThroughRate.map(Self.rounded) ?? ""]
        }
        return switch self {
        case .table: Self.table([names] + rows)
        case .csv: ([names] + rows).map { $0.map(Self.quoted).joined(separator: ",") + "\r\n" }.joined()
        case .json: "[" + rows.map { Self.object(names, $0) }.joined(separator: ",") + "]\n"
        }
    }

    private static func name(of key: LedgerReport.Key) -> String {
        switch key {
        case .day(let number): CalendarDay(number: Int64(number)).text
        case .ad(let cell): cell
        case .verdict(let verdict): verdict.rawValue
        }
    }

    /// Four decimals are as many as a rate has meaning in.
    private static func rounded(_ rate: Double) -> String {
        let thousandths = Int((rate * 10_000).rounded())
        let fraction = String(thousandths % 10_000)
        return "\(thousandths / 10_000)." + String(repeating: "0", count: 4 - fraction.count) + fraction
    }

    private static func table(_ rows: [[String]]) -> String {
        guard let columns = rows.first?.indices else { return "" }
        let widths = columns.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = columns.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 ? row[column] + padding : padding + row[column]
            }
            return cells.joined(separator: "  ") + "\n"
        }.joined()
    }

    /// RFC 4180.
    private static func quoted(_ text: String) -> String {
        guard text.contains(where: { ",\"\r\n".contains($0) }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }

    private static func object(_ names: [String], _ row: [String]) -> String {
        let pairs = zip(names, row).enumerated().map { index, pair in
            let value = index == 0 ? JSONText.quoted(pair.1) : (pair.1.isEmpty ? "null" : pair.1)
            return "\(JSONText.quoted(pair.0)):\(value)"
        }
        return "{" + pairs.joined(separator: ",") + "}"
    }
}

/// Text as a JSON string.
enum JSONText {
    static func quoted(_ text: String) -> String {
        let data = (try? JSONEncoder().encode(text)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }
}

extension CalendarDay: ExpressibleByArgument {
    package init?(argument: String) {
        self.init(argument)
    }

    static var today: CalendarDay { CalendarDay(ofSecond: Int64(Date().timeIntervalSince1970.rounded(.down))) }
}

extension SQLiteLedger {
    /// The ledger of a store; nil where there are items and nothing has happened to them yet.
    ///
    /// - Throws: `StoreError.unusable` where there is neither.
    convenience init?(of store: StoreSettings) throws {
        let files = FileManager.default
        guard files.fileExists(atPath: store.ledgerDatabase) || !files.fileExists(atPath: store.database) else { return nil }
        try self.init(existing: store.ledgerDatabase)
    }
}
