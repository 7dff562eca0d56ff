internal import IntertwineFeed

/// A row of a report: with the members of a row of `intertwine report --format json`, and those that it has had before.
struct ReportRow: Encodable {
    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    let grouping: LedgerReport.Grouping
    /// The day, ad or verdict.
    let key: String
    let counts: [LedgerEvent.Kind: Int]
    let clickThroughRate: Double?

    func encode(to encoder: any Encoder) throws {
        var row = encoder.container(keyedBy: Name.self)
        for name in ["key", grouping.rawValue] { try row.encode(key, forKey: Name(stringValue: name)) }
        try row.encode(
            Dictionary(uniqueKeysWithValues: counts.map { ($0.key.rawValue, $0.value) }), forKey: Name(stringValue: "counts"))
        try row.encodeIfPresent(clickThroughRate, forKey: Name(stringValue: "clickThroughRate"))
        for kind in LedgerEvent.Kind.allCases { try row.encode(counts[kind] ?? 0, forKey: Name(stringValue: "\(kind.rawValue)s")) }
        // Four decimals are as many as a rate has meaning in.
        try row.encode(clickThroughRate.map { ($0 * 10_000).rounded() / 10_000 }, forKey: Name(stringValue: "ctr"))
    }
}
