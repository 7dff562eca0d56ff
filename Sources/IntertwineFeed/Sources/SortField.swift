/// A field by which the items of a section can be ordered.
public struct SortField: Sendable, Hashable {
    /// How values compare. Each ends in a number or a text, so that every two items compare, and a cursor can say where it stands.
    public enum Comparison: String, Sendable, Hashable, CaseIterable {
        /// By the Unicode code points of the first ``SortField/textLimit`` characters.
        case text
        case number
        /// By the moment that is meant, to the nanosecond and whatever the offset; a date without a time is its midnight in UTC.
        ///
        /// The raw value names the key in indices and cursors: those of another key must not be taken for it.
        case date = "moment"
    }

    /// Characters of a text that count. Texts that begin alike stand in the order of their positions.
    public static let textLimit = 64

    /// Letters, digits, underscores and hyphens.
    public let name: String
    public let comparison: Comparison

    /// Nil where the name holds any other character, or is longer than 64 bytes.
    public init?(_ name: String, _ comparison: Comparison) {
        let isPlain = name.utf8.allSatisfy { byte in
            (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") <= 9 || byte == UInt8(ascii: "_")
                || byte == UInt8(ascii: "-")
        }
        guard isPlain, (1...64).contains(name.utf8.count) else { return nil }
        self.name = name
        self.comparison = comparison
    }
}
