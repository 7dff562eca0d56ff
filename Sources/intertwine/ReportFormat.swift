import ArgumentParser
import IntertwineFeed
import IntertwinePrimitives

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
