/// The position of an item in its section: ordered by the sort key, if a field orders the section, and then by position.
public struct SortPosition: Sendable, Hashable, Comparable {
    /// The sort key; nil if only positions order the section.
    public var key: SortKey?
    /// The position of the item in its stream.
    public var position: Int64

    /// Creates a position, by default in a section without a sort field.
    public init(key: SortKey? = nil, position: Int64) {
        self.key = key
        self.position = position
    }

    /// Returns true if the first position precedes the second one. A position without a key precedes one with a key.
    ///
    /// ```swift
    /// let first = SortPosition(key: .number(9), position: 2)
    /// let isBefore = first < SortPosition(key: .number(12), position: 1)  // true
    /// ```
    public static func < (first: SortPosition, second: SortPosition) -> Bool {
        guard first.key != second.key else { return first.position < second.position }
        guard let key = second.key else { return false }
        return first.key.map { $0 < key } ?? true
    }

    package func moved(by step: Int64) -> SortPosition {
        let (position, overflow) = position.addingReportingOverflow(step)
        return overflow ? self : SortPosition(key: key, position: position)
    }
}

extension FeedItem {
    /// The position in a section that is ordered by the sort key, if any.
    public var sortPosition: SortPosition { SortPosition(key: sortKey, position: position) }
}

/// The value of the field that orders a section. Numbers sort before texts.
public enum SortKey: Sendable, Hashable {
    /// A number.
    case number(Double)
    /// UTF-8, compared byte by byte, which is the order of code points. Cursors contain the key, so its length is limited to
    /// ``SortField/textLimit``.
    case text([UInt8])
}

extension SortKey: Comparable {
    /// Returns true if the first key precedes the second one. Numbers precede texts.
    ///
    /// ```swift
    /// let number = SortKey.number(1_000)
    /// let isBefore = number < SortKey.text(Array("a".utf8))  // true
    /// ```
    public static func < (first: SortKey, second: SortKey) -> Bool {
        switch (first, second) {
        case (.number(let first), .number(let second)): first < second
        case (.number, .text): true
        case (.text, .number): false
        case (.text(let first), .text(let second)): first.lexicographicallyPrecedes(second)
        }
    }
}

/// A field by which the items of a section can be sorted.
public struct SortField: Sendable, Hashable {
    /// The comparison of values. Each yields a number or a text, so that any two items compare and a cursor can contain the key.
    public enum Comparison: String, Sendable, Hashable, CaseIterable {
        /// The Unicode code points of the first ``SortField/textLimit`` characters.
        case text
        /// The value of the number.
        case number
        /// The point in time, with nanosecond precision and independent of the offset. A date without a time is midnight in UTC.
        ///
        /// The raw value is part of the names in indexes and cursors, so that keys of another comparison are not mistaken for these.
        case date = "moment"
    }

    static let countPrefix = "counts."

    /// The number of characters of a text that are compared. Texts with an equal beginning are ordered by position.
    public static let textLimit = 64

    /// The name of the field: letters, digits, underscores and hyphens.
    public let name: String
    /// The comparison of the field's values.
    public let comparison: Comparison

    /// Creates a sort field; nil if the name contains other characters, is empty, or is longer than 64 bytes.
    ///
    /// ```swift
    /// let price = SortField("price", .number)
    /// let invalid = SortField("price in EUR", .number)  // nil
    /// ```
    public init?(_ name: String, _ comparison: Comparison) {
        let isPlain = (name.hasPrefix(SortField.countPrefix) ? name.dropFirst(SortField.countPrefix.count) : name[...]).utf8
            .allSatisfy { byte in
                (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") <= 9 || byte == UInt8(ascii: "_")
                    || byte == UInt8(ascii: "-")
            }
        guard isPlain, (1...64).contains(name.utf8.count) else { return nil }
        self.name = name
        self.comparison = comparison
    }
}
