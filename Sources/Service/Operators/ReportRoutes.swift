internal import Feed
internal import Foundation
internal import HTTPServer
internal import HTTPTypes

/// `GET /admin/reports?from=&to=&by=`: what the ledger counted, by day, by advertisement or by verdict.
struct ReportRoutes: Sendable {
    private static let day: Int64 = 86_400_000
    /// Days of a report that names none.
    private static let span = 30

    let archive: any LedgerArchive
    /// What the ids of advertisements' cells begin with, before the colon.
    let prefixes: [String]

    private struct Answer: Encodable {
        var from: String
        var to: String
        var by: String
        var rows: [ReportRow]
    }

    var routes: [Route] {
        [
            Route(.get, "/admin/reports") { request in
                try await report(request, by: try request.query.text("by") ?? LedgerReport.Grouping.day.rawValue)
            },
            Route(.get, "/admin/reports/{by}") { request in try await report(request, by: request.parameter("by")) },
        ]
    }

    private func report(_ request: RouteRequest, by grouping: String) async throws -> ServerResponse {
        guard let by = LedgerReport.Grouping(rawValue: grouping) else {
            let words = LedgerReport.Grouping.allCases.map(\.rawValue).joined(separator: ", ")
            throw Problem(.badRequest, .invalidParameter, "by must be one of \(words).")
        }
        let last = try Self.day("to", of: request) ?? Int(request.now / Self.day)
        let first = try Self.day("from", of: request) ?? last - (Self.span - 1)
        guard first <= last else { throw Problem(.badRequest, .invalidParameter, "from must not be later than to.") }
        let report = try await archive.report(days: first...last, by: by, prefixes: prefixes)
        let rows = report.rows.map { row in
            ReportRow(grouping: by, key: Self.text(row.key), counts: row.counts, clickThroughRate: row.clickThroughRate)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = try encoder.encode(Answer(from: Self.text(first), to: Self.text(last), by: by.rawValue, rows: rows))
        return ServerResponse(status: .ok, fields: [.contentType: "application/json", .cacheControl: "no-store"], body: Array(body))
    }

    private static var style: Date.ISO8601FormatStyle { .iso8601.year().month().day() }

    private static func text(_ key: LedgerReport.Key) -> String {
        switch key {
        case .day(let number): text(number)
        case .ad(let cell): cell
        case .verdict(let verdict): verdict.rawValue
        }
    }

    private static func text(_ day: Int) -> String {
        Date(timeIntervalSince1970: Double(day) * 86_400).formatted(style)
    }

    private static func day(_ name: String, of request: RouteRequest) throws(Problem) -> Int? {
        guard let text = try request.query.text(name) else { return nil }
        // Reading is lenient: the 30th of February would be the 2nd of March.
        guard let date = try? Date(text, strategy: style), date.formatted(style) == text else {
            throw Problem(.badRequest, .invalidParameter, "\(name) must be a day in UTC, such as 2026-11-21.")
        }
        return Int((date.timeIntervalSince1970 / 86_400).rounded(.down))
    }
}
