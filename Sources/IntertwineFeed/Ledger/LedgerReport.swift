internal import IntertwinePrimitives

/// What happened over a span of days, by one thing or by two.
package struct LedgerReport: Sendable, Hashable {
    package enum Grouping: String, Sendable, Hashable, CaseIterable {
        case day, ad, verdict
        /// As by verdict, with what is unknown told apart.
        case reason
        /// In UTC; told for as long as events are kept.
        case hour
        case campaign, advertiser
        /// What sort of creative it is: `image`, `video`, ….
        case creative
        case feed, section
        /// Among the cells of a page, from 0.
        case position
        /// A field of a slot's input that declares its choices, and the value that it was given.
        case choice

        /// Whether it tells advertisements apart; a report by it is about nothing else.
        package var isOfAdvertisements: Bool {
            switch self {
            case .ad, .campaign, .advertiser, .creative: true
            case .day, .verdict, .reason, .hour, .feed, .section, .position, .choice: false
            }
        }
    }

    /// What a report is asked for with.
    package struct Query: Sendable, Hashable {
        /// Days since 1970-01-01 UTC.
        package var days: ClosedRange<Int>
        package var by: Grouping
        /// What the rows are divided by once more; nil for nothing.
        package var and: Grouping?
        /// What the ids of advertisements' cells begin with, before the colon.
        package var prefixes: [String]
        /// Whether different viewers are to be estimated.
        package var countsViewers: Bool

        package init(
            days: ClosedRange<Int>, by: Grouping, and: Grouping? = nil, prefixes: [String] = ["ad"], countsViewers: Bool = false
        ) {
            self.days = days
            self.by = by
            self.and = and
            self.prefixes = prefixes
            self.countsViewers = countsViewers
        }

        package var groupings: [Grouping] { [by] + [and].compactMap { $0 } }

        /// Whether rows are campaigns, and tell how far those have come.
        package var includesPace: Bool { by == .campaign && and == nil }

        /// Why it cannot be answered; nil where it can.
        package var error: String? {
            if and == .choice || by == .choice && and.map({ $0 != .day }) ?? false {
                return "A report by choice has day as its second grouping, or none."
            }
            if countsViewers, by == .choice { return "Viewers are not estimated by choice." }
            if and == by { return "A report needs two different groupings, or one." }
            if and != nil, groupings.contains(where: \.isOfVerdicts) { return "A report by verdict or reason has no second grouping." }
            if countsViewers, by.isOfVerdicts || and.map({ $0 != .day && by != .day || groupings.contains(.hour) }) ?? false {
                return "Viewers are estimated by one grouping but verdict and reason, or by one and day."
            }
            return nil
        }
    }

    package enum Key: Sendable, Hashable {
        /// Days since 1970-01-01 UTC.
        case day(Int)
        /// Hours since 1970-01-01 UTC.
        case hour(Int)
        /// The cell's id, such as `ad:1`.
        case ad(String)
        case verdict(Verdict)
        /// A campaign, advertiser, creative, feed or section; empty where there was none, or no page's token tells. Or a choice: `reason=spam`.
        case name(String)
        /// Nil where no page's token tells.
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
        /// Of the second grouping.
        package var second: Key?
        /// Events of each kind that counted; by verdict those that have it.
        package var counts: [LedgerEvent.Kind: Int]
        /// Different viewers whose impressions counted, estimated (``UniqueViewersSketch``); nil where that was not asked for.
        package var viewers: Int?
        /// Of a campaign that there is, how far it has come by now; nil where that was not asked for.
        package var campaign: CampaignStatistics?

        package init(key: Key, second: Key? = nil, counts: [LedgerEvent.Kind: Int], viewers: Int? = nil) {
            self.key = key
            self.second = second
            self.counts = counts
            self.viewers = viewers
        }

        package var keys: [Key] { [key] + [second].compactMap { $0 } }

        /// Clicks per impression; nil without impressions.
        package var clickThroughRate: Double? {
            guard let impressions = counts[.impression], impressions > 0 else { return nil }
            return Double(counts[.click] ?? 0) / Double(impressions)
        }
    }

    /// Rows of one report at the most.
    package static let rowLimit = 100_000

    /// A report would have more rows than ``rowLimit``.
    package struct TooManyRowsError: Error, Sendable, Hashable {
        package init() {}

        package static let advice = "The report would have more than \(rowLimit) rows: ask for fewer days, or by one grouping."
    }

    /// Days, hours and positions ascending; ads and names by their bytes; verdicts in the order of their declaration.
    package var rows: [Row]

    package init(rows: [Row]) {
        self.rows = rows
    }
}

extension LedgerReport.Grouping {
    /// Whether it is about what does not count, too.
    package var isOfVerdicts: Bool { self == .verdict || self == .reason }

    /// Whether there are totals that events write themselves.
    package var hasOwnTotals: Bool { self == .day || self == .ad || isOfVerdicts }
}

extension LedgerReport {
    /// The rows by verdict or by reason, of those by what the ledger has kept.
    package static func judged(_ rows: [Row], by grouping: Grouping) -> [Row] {
        var counts: [Verdict: [LedgerEvent.Kind: Int]] = [:]
        for row in rows {
            guard case .verdict(let verdict) = row.key else { continue }
            counts[grouping == .reason ? verdict : verdict.publicReason, default: [:]].merge(row.counts, uniquingKeysWith: +)
        }
        return Verdict.allCases.compactMap { verdict in counts[verdict].map { Row(key: .verdict(verdict), counts: $0) } }
    }

    /// As a table of texts, the names of the columns first.
    package func table(of question: Query) -> [[String]] {
        // How far something was played has columns where anything was.
        let played = CommandKey.playback.map(\.occurrence).filter { kind in rows.contains { $0.counts[kind] != nil } }
        let counted = LedgerEvent.Kind.allCases + played + ownKinds(question)
        let viewers = question.countsViewers
        let names = question.groupings.map(\.rawValue) + (viewers ? ["viewers", "viewersError"] : [])
        let figures = question.includesPace ? CampaignStatistics.columns : []
        return [names + counted.map { "\($0.rawValue)s" } + ["ctr"] + figures]
            + rows.map { row in
                row.keys.map(\.text) + (viewers ? [String(row.viewers ?? 0), Self.rounded(UniqueViewersSketch.error)] : [])
                    + counted.map { String(row.counts[$0] ?? 0) } + [row.clickThroughRate.map(Self.rounded) ?? ""]
                    + (question.includesPace ? row.campaign?.texts ?? figures.map { _ in "" } : [])
            }
    }

    /// Slots of one's own that have a column: those that were given a choice.
    private func ownKinds(_ question: Query) -> [LedgerEvent.Kind] {
        guard question.by == .choice else { return [] }
        let usual = Set(LedgerEvent.Kind.allCases + CommandKey.playback.map(\.occurrence))
        return Set(rows.flatMap { $0.counts.keys }).subtracting(usual).sorted { $0.rawValue < $1.rawValue }
    }

    /// Adds a count to a report by choice; those of one row follow one another.
    ///
    /// - Parameter day: nil if days are no grouping.
    /// - Throws: ``TooManyRowsError``.
    package mutating func add(_ count: Int, of kind: LedgerEvent.Kind, with choice: EventInput.Choice, on day: Int?) throws {
        let row = Row(key: .name("\(choice.field)=\(choice.value)"), second: day.map { .day($0) }, counts: [:])
        let isSame = rows.last.map { last in
            // Texts that Swift takes for equal are two.
            zip(last.keys, row.keys).allSatisfy { ByteString($0.text) == ByteString($1.text) }
        }
        if isSame != true {
            guard rows.count < Self.rowLimit else { throw TooManyRowsError() }
            rows.append(row)
        }
        rows[rows.count - 1].counts[kind] = count
    }

    /// Columns that hold texts; all others hold numbers, or nothing.
    package static func hasTexts(_ column: String) -> Bool {
        Grouping(rawValue: column) != nil || column == "unit"
    }

    /// Adds how far campaigns have come, by their ids.
    package mutating func add(_ figures: [String: CampaignStatistics]) {
        for index in rows.indices {
            if case .name(let id) = rows[index].key { rows[index].campaign = figures[id] }
        }
    }

    /// The same as CSV (RFC 4180).
    package func csv(of question: Query) -> String {
        Self.csv(table(of: question))
    }

    /// A table as CSV (RFC 4180).
    package static func csv(_ table: [[String]]) -> String {
        table.map { $0.map(quoted).joined(separator: ",") + "\r\n" }.joined()
    }

    /// A text that a spreadsheet would take for a formula begins with an apostrophe: names come from whoever pays.
    private static func quoted(_ text: String) -> String {
        let text = text.utf8.first.map { "=+-@\t\r\n".utf8.contains($0) } ?? false ? "'" + text : text
        guard text.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }

    /// Four decimals are as many as a rate has meaning in.
    package static func rounded(_ rate: Double) -> String {
        let parts = Int((rate * 10_000).rounded())
        let fraction = String(parts % 10_000)
        return "\(parts / 10_000)." + String(repeating: "0", count: 4 - fraction.count) + fraction
    }
}

extension CampaignStatistics {
    /// As reports call them, in a table and as members.
    package static let columns = ["unit", "total", "daily", "delivered", "deliveredToday", "due", "dueToday", "pace"]

    /// In the order of the columns, empty where there is nothing to tell.
    package var texts: [String] {
        func text(_ number: (some BinaryInteger)?) -> String { number.map { "\($0)" } ?? "" }
        return [unit?.rawValue ?? "", text(total), text(daily), text(delivered), text(deliveredToday), text(due), text(dueToday)]
            + [pace.map(LedgerReport.rounded) ?? ""]
    }
}
