internal import IntertwinePrimitives

package struct LedgerReport: Sendable, Hashable {
    package enum Grouping: String, Sendable, Hashable, CaseIterable {
        case day, ad, verdict
        case reason
        case hour
        case campaign, advertiser
        case creative
        case feed, section
        case position
        case choice, context

        package var isOfAdvertisements: Bool {
            switch self {
            case .ad, .campaign, .advertiser, .creative: true
            case .day, .verdict, .reason, .hour, .feed, .section, .position, .choice, .context: false
            }
        }
    }

    package struct Query: Sendable, Hashable {
        package var days: ClosedRange<Int>
        package var by: Grouping
        package var and: Grouping?
        package var prefixes: [String]
        /// The zone of the days. Only a report by campaign and day has other days than UTC.
        package var zone = Zone.utc

        package enum Zone: String, Sendable, Hashable, CaseIterable { case utc, campaign }

        package init(days: ClosedRange<Int>, by: Grouping, and: Grouping? = nil, prefixes: [String] = ["ad"]) {
            self.days = days
            self.by = by
            self.and = and
            self.prefixes = prefixes
        }

        package var groupings: [Grouping] { [by] + [and].compactMap { $0 } }

        package var includesPace: Bool { by == .campaign && and == nil }

        package var includesPrice: Bool { by == .campaign }

        package var error: String? {
            if let grouping = groupings.first(where: \.isOfChoices), by != grouping || and != nil && and != .day {
                return "A report by \(grouping.rawValue) has day as its second grouping, or none."
            }
            if zone == .campaign, groupings != [.campaign, .day] {
                return "The days of campaigns are for a report by campaign, with day as its second grouping."
            }
            if and == by { return "A report needs two different groupings, or one." }
            if and != nil, groupings.contains(where: \.isOfVerdicts) { return "A report by verdict or reason has no second grouping." }
            return nil
        }
    }

    package enum Key: Sendable, Hashable {
        case day(Int)
        case hour(Int)
        case ad(String)
        case verdict(Verdict)
        case name(String)
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
        package var second: Key?
        package var counts: [LedgerEvent.Kind: Int]
        package var campaign: CampaignStatistics?

        package init(key: Key, second: Key? = nil, counts: [LedgerEvent.Kind: Int]) {
            self.key = key
            self.second = second
            self.counts = counts
        }

        package var keys: [Key] { [key] + [second].compactMap { $0 } }

        package var clickThroughRate: Double? {
            guard let impressions = counts[.impression], impressions > 0 else { return nil }
            return Double(counts[.click] ?? 0) / Double(impressions)
        }
    }

    package static let rowLimit = 100_000

    package struct TooManyRowsError: Error, Sendable, Hashable {
        package init() {}

        package static let advice = "The report would have more than \(rowLimit) rows: request fewer days, or one grouping."
    }

    package var rows: [Row]
    /// The campaigns with counts whose own days are not known, so that they have no rows.
    package var unknownZones: [String] = []

    package init(rows: [Row]) {
        self.rows = rows
    }
}

extension LedgerReport.Grouping {
    package var isOfVerdicts: Bool { self == .verdict || self == .reason }

    package var isOfChoices: Bool { self == .choice || self == .context }

    package var hasOwnTotals: Bool { self == .day || self == .ad || isOfVerdicts }
}

extension LedgerReport {
    package static func judged(_ rows: [Row], by grouping: Grouping) -> [Row] {
        var counts: [Verdict: [LedgerEvent.Kind: Int]] = [:]
        for row in rows {
            guard case .verdict(let verdict) = row.key else { continue }
            counts[grouping == .reason ? verdict : verdict.publicReason, default: [:]].merge(row.counts, uniquingKeysWith: +)
        }
        return Verdict.allCases.compactMap { verdict in counts[verdict].map { Row(key: .verdict(verdict), counts: $0) } }
    }

    package func table(of question: Query) -> [[String]] {
        // The table has the columns of playback events, surplus and corrections that occur in the report.
        let played = (LedgerEvent.Kind.playback + LedgerEvent.Kind.uncounted).filter { kind in rows.contains { $0.counts[kind] != nil } }
        let counted = LedgerEvent.Kind.allCases + played + ownKinds(question)
        let names = question.groupings.map(\.rawValue)
        let figures = question.includesPace ? CampaignStatistics.columns : []
        let hasSpend = question.includesPrice && rows.contains { $0.campaign?.price != nil }
        return [names + counted.map { "\($0.rawValue)s" } + ["ctr"] + figures + (hasSpend ? ["spend", "currency"] : [])]
            + rows.map { row in
                row.keys.map(\.text) + counted.map { String(row.counts[$0] ?? 0) } + [row.clickThroughRate.map(Self.rounded) ?? ""]
                    + (question.includesPace ? row.campaign?.texts ?? figures.map { _ in "" } : [])
                    + (hasSpend ? [row.campaign?.spend(of: row.counts) ?? "", row.campaign?.price?.currency ?? ""] : [])
            }
    }

    private func ownKinds(_ question: Query) -> [LedgerEvent.Kind] {
        guard question.by.isOfChoices else { return [] }
        let usual = Set(LedgerEvent.Kind.allCases + LedgerEvent.Kind.playback)
        return Set(rows.flatMap { $0.counts.keys }).subtracting(usual).sorted { $0.rawValue < $1.rawValue }
    }

    /// The counts of one row must be added consecutively.
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

    package static func hasTexts(_ column: String) -> Bool {
        Grouping(rawValue: column) != nil || column == "unit" || column == "spend" || column == "currency"
    }

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

    /// An apostrophe is prefixed to a text that a spreadsheet would evaluate as a formula, because names come from advertisers.
    private static func quoted(_ text: String) -> String {
        let text = text.utf8.first.map { "=+-@\t\r\n".utf8.contains($0) } ?? false ? "'" + text : text
        guard text.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) else { return text }
        return "\"" + text.replacing("\"", with: "\"\"") + "\""
    }

    package static func rounded(_ rate: Double) -> String {
        let parts = Int((rate * 10_000).rounded())
        let fraction = String(parts % 10_000)
        return "\(parts / 10_000)." + String(repeating: "0", count: 4 - fraction.count) + fraction
    }
}

extension CampaignStatistics {
    package static let columns = ["unit", "total", "daily", "delivered", "deliveredToday", "due", "dueToday", "pace"]

    package var texts: [String] {
        func text(_ number: (some BinaryInteger)?) -> String { number.map { "\($0)" } ?? "" }
        return [unit?.rawValue ?? "", text(total), text(daily), text(delivered), text(deliveredToday), text(due), text(dueToday)]
            + [pace.map(LedgerReport.rounded) ?? ""]
    }
}
