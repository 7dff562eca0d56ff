/// What happened over a span of days, by day, by advertisement or by verdict.
public struct LedgerReport: Sendable, Hashable {
    public enum Grouping: String, Sendable, Hashable, CaseIterable {
        case day, ad, verdict
    }

    public enum Key: Sendable, Hashable {
        /// Days since 1970-01-01 UTC.
        case day(Int)
        /// The cell's id, such as `ad:1`.
        case ad(String)
        case verdict(Verdict)
    }

    public struct Row: Sendable, Hashable {
        public var key: Key
        /// Events of each kind; by day and by ad those that counted.
        public var counts: [LedgerEvent.Kind: Int]

        public init(key: Key, counts: [LedgerEvent.Kind: Int]) {
            self.key = key
            self.counts = counts
        }

        /// Clicks per impression; nil without impressions.
        public var clickThroughRate: Double? {
            guard let impressions = counts[.impression], impressions > 0 else { return nil }
            return Double(counts[.click] ?? 0) / Double(impressions)
        }
    }

    /// Days ascending; ads by their id; verdicts in the order of their declaration.
    public var rows: [Row]

    public init(rows: [Row]) {
        self.rows = rows
    }
}
