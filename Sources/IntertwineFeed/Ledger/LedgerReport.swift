internal import IntertwinePrimitives

/// A report on the events of a range of days, with one or two groupings.
package struct LedgerReport: Sendable, Hashable {
    package enum Grouping: String, Sendable, Hashable, CaseIterable {
        case day, ad, verdict
        /// Groups by verdict and splits `unknown` by its reason.
        case reason
        /// Groups by hour in UTC. Hours are available as long as their events are retained.
        case hour
        case campaign, advertiser
        /// Groups by the type of the creative: `image`, `video`, ….
        case creative
        case feed, section
        /// Groups by the position among the cells of a page, from 0.
        case position
        /// Groups by the values of input fields that declare their choices.
        case choice

        /// True if the grouping distinguishes ads. A report with such a grouping contains ads only.
        package var isOfAdvertisements: Bool {
            switch self {
            case .ad, .campaign, .advertiser, .creative: true
            case .day, .verdict, .reason, .hour, .feed, .section, .position, .choice: false
            }
        }
    }

    /// The parameters of a report.
    package struct Query: Sendable, Hashable {
        /// The days since 1970-01-01 UTC.
        package var days: ClosedRange<Int>
        package var by: Grouping
        /// The second grouping, or nil for one grouping only.
        package var and: Grouping?
        /// The prefixes of the cell ids of ads, without the colon.
        package var prefixes: [String]

        package init(days: ClosedRange<Int>, by: Grouping, and: Grouping? = nil, prefixes: [String] = ["ad"]) {
            self.days = days
            self.by = by
            self.and = and
            self.prefixes = prefixes
        }

        package var groupings: [Grouping] { [by] + [and].compactMap { $0 } }

        /// True if the rows are campaigns and contain their delivery progress.
        package var includesPace: Bool { by == .campaign && and == nil }

        /// The reason why the query is invalid, or nil if it is valid.
        package var error: String? {
            if and == .choice || by == .choice && and.map({ $0 != .day }) ?? false {
                return "A report by choice has day as its second grouping, or none."
            }
            if and == by { return "A report needs two different groupings, or one." }
            if and != nil, groupings.contains(where: \.isOfVerdicts) { return "A report by verdict or reason has no second grouping." }
            return nil
        }
    }

    package enum Key: Sendable, Hashable {
        /// A day since 1970-01-01 UTC.
        case day(Int)
        /// An hour since 1970-01-01 UTC.
        case hour(Int)
        /// The id of the cell of an ad, such as `ad:1`.
        case ad(String)
        case verdict(Verdict)
        /// The name of a campaign, advertiser, creative, feed or section, or a choice such as `reason=spam`.
        ///
        /// The name is empty if there was none or the event has no page token.
        case name(String)
        /// A position on a page. It is nil if the event has no page token.
        case position(Int?)

        package var text: String {
            switch self {
            case .day(let number): CalendarDay(number: Int64(number)).text
            case .hour(let number):
                "\(CalendarDay(number: Int64(number / 24)).text)T\(number % 24 < 10 ? "0" : "")\(number % 24):00:00Z"
            case .ad(let text), .name(let text): text
            case .verdict(let verdict): verdict.rawValue
            case .position(let position): position.map(String.init) ?? ""
            }
        }
    }

    package struct Row: Sendable, Hashable {
        package var key: Key
        /// The key of the second grouping.
        package var second: Key?
        /// The number of counted events of each kind. In reports by verdict, the number of events with the verdict.
        package var counts: [LedgerEvent.Kind: Int]
        /// The current delivery progress of an existing campaign, or nil if the query does not include it.
        package var campaign: CampaignStatistics?

        package init(key: Key, second: Key? = nil, counts: [LedgerEvent.Kind: Int]) {
            self.key = key
            self.second = second
            self.counts = counts
        }

        package var keys: [Key] { [key] + [second].compactMap { $0 } }

        /// The clicks per impression, or nil without impressions.
        package var clickThroughRate: Double? {
            guard let impressions = counts[.impression], impressions > 0 else { return nil }
            return Double(counts[.click] ?? 0) / Double(impressions)
        }
    }

    /// The maximum number of rows of a report.
    package static let rowLimit = 100_000

    /// An error for a report with more rows than ``rowLimit``.
    package struct TooManyRowsError: Error, Sendable, Hashable {
        package init() {}

        package static let advice = "The report would have more than \(rowLimit) rows: request fewer days, or one grouping."
    }

    /// The rows: days, hours and positions ascending, ads and names in byte order, verdicts in declaration order.
    package var rows: [Row]

    package init(rows: [Row]) {
        self.rows = rows
    }
}

extension LedgerReport.Grouping {
    /// True if the report includes events that do not count.
    package var isOfVerdicts: Bool { self == .verdict || self == .reason }

    /// True if events update the totals of the grouping at commit.
    package var hasOwnTotals: Bool { self == .day || self == .ad || isOfVerdicts }
}

extension LedgerReport {
    /// Returns the rows by verdict or by reason, merged from the rows that the ledger stores.
    package static func judged(_ rows: [Row], by grouping: Grouping) -> [Row] {
        var counts: [Verdict: [LedgerEvent.Kind: Int]] = [:]
        for row in rows {
            guard case .verdict(let verdict) = row.key else { continue }
            counts[grouping == .reason ? verdict : verdict.publicReason, default: [:]].merge(row.counts, uniquingKeysWith: +)
        }
        return Verdict.allCases.compactMap { verdict in counts[verdict].map { Row(key: .verdict(verdict), counts: $0) } }
    }

    /// Returns the report as a table of texts with a header row.
    package func table(of question: Query) -> [[String]] {
        // The table has the columns of playback events that occur in the report.
        let played = LedgerEvent.Kind.playback.filter { kind in rows.contains { $0.counts[kind] != nil } }
        let counted = LedgerEvent.Kind.allCases + played + ownKinds(question)
        let names = question.groupings.map(\.rawValue)
        let figures = question.includesPace ? CampaignStatistics.columns : []
        return [names + counted.map { "\($0.rawValue)s" } + ["ctr"] + figures]
            + rows.map { row in
                row.keys.map(\.text) + counted.map { String(row.counts[$0] ?? 0) } + [row.clickThroughRate.map(Self.rounded) ?? ""]
                    + (question.includesPace ? row.campaign?.texts ?? figures.map { _ in "" } : [])
            }
    }

    /// Returns the custom slots with a column: the slots with choices in their input.
    private func ownKinds(_ question: Query) -> [LedgerEvent.Kind] {
        guard question.by == .choice else { return [] }
        let usual = Set(LedgerEvent.Kind.allCases + LedgerEvent.Kind.playback)
        return Set(rows.flatMap { $0.counts.keys }).subtracting(usual).sorted { $0.rawValue < $1.rawValue }
    }

    /// Adds a count to a report by choice. The counts of one row must be added consecutively.
    ///
    /// - Parameter day: the day, or nil if the report is not grouped by day.
    /// - Throws: ``TooManyRowsError``.
    package mutating func add(_ count: Int, of kind: LedgerEvent.Kind, with choice: EventInput.Choice, on day: Int?) throws {
        let row = Row(key: .name("\(choice.field)=\(choice.value)"), second: day.map { .day($0) }, counts: [:])
        let isSame = rows.last.map { last in
            // Texts are compared as bytes, because Swift strings that differ in bytes can be equal.
            zip(last.keys, row.keys).allSatisfy { ByteString($0.text) == ByteString($1.text) }
        }
        if isSame != true {
            guard rows.count < Self.rowLimit else { throw TooManyRowsError() }
            rows.append(row)
        }
        rows[rows.count - 1].counts[kind] = count
    }

    /// Returns true if a column contains texts. All other columns contain numbers or are empty.
    package static func hasTexts(_ column: String) -> Bool {
        Grouping(rawValue: column) != nil || column == "unit"
    }

    /// Adds the delivery progress of campaigns, keyed by campaign id.
    package mutating func add(_ figures: [String: CampaignStatistics]) {
        for index in rows.indices {
            if case .name(let id) = rows[index].key { rows[index].campaign = figures[id] }
        }
    }

    /// Returns the report as CSV (RFC 4180).
    package func csv(of question: Query) -> String {
        Self.csv(table(of: question))
    }

    /// Returns a table as CSV (RFC 4180).
    package static func csv(_ table: [[String]]) -> String {
        table.map { $0.map(quoted).joined(separator: ",") + "\r\n" }.joined()
    }

    /// Quotes a text. An apostrophe is prefixed to a text that a spreadsheet would evaluate as a formula, because names come from advertisers.
    private static func quoted(_ text: String) -> String {
        let text = text.utf8.first.map { "=+-@\t\r\n".utf8.contains($0) } ?? false ? "'" + text : text
        guard text.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }

    /// Returns a rate with four decimals, which is the meaningful precision.
    package static func rounded(_ rate: Double) -> String {
        let parts = Int((rate * 10_000).rounded())
        let fraction = String(parts % 10_000)
        return "\(parts / 10_000)." + String(repeating: "0", count: 4 - fraction.count) + fraction
    }
}

extension CampaignStatistics {
    /// The names of the values in reports, both as table columns and as JSON members.
    package static let columns = ["unit", "total", "daily", "delivered", "deliveredToday", "due", "dueToday", "pace"]

    /// The values in the order of the columns. A missing value is an empty text.
    package var texts: [String] {
        func text(_ number: (some BinaryInteger)?) -> String { number.map { "\($0)" } ?? "" }
        return [unit?.rawValue ?? "", text(total), text(daily), text(delivered), text(deliveredToday), text(due), text(dueToday)]
            + [pace.map(LedgerReport.rounded) ?? ""]
    }
}
