/// Where an item stands in the order of its section: by its key, where a field orders the section, and among equal keys by its position.
public struct SortPosition: Sendable, Hashable, Comparable {
    /// Nil where positions alone order the section.
    public var key: SortKey?
    public var position: Int64

    public init(key: SortKey? = nil, position: Int64) {
        self.key = key
        self.position = position
    }

    public static func < (first: SortPosition, second: SortPosition) -> Bool {
        guard first.key != second.key else { return first.position < second.position }
        guard let key = second.key else { return false }
        return first.key.map { $0 < key } ?? true
    }

    /// The nearest place after it or, with a negative step, before it.
    func moved(by step: Int64) -> SortPosition {
        let (position, overflow) = position.addingReportingOverflow(step)
        return overflow ? self : SortPosition(key: key, position: position)
    }
}

extension FeedItem {
    public var sortPosition: SortPosition { SortPosition(key: sortKey, position: position) }
}

/// The value by which an item is ordered in its section, where that is a field. Numbers come before texts.
public enum SortKey: Sendable, Hashable {
    case number(Double)
    /// UTF-8, compared byte by byte, which is the order of code points. Cursors carry it, so it is to be short: ``SortField/textLimit``.
    case text([UInt8])
}

extension SortKey: Comparable {
    public static func < (first: SortKey, second: SortKey) -> Bool {
        switch (first, second) {
        case (.number(let first), .number(let second)): first < second
        case (.number, .text): true
        case (.text, .number): false
        case (.text(let first), .text(let second)): first.lexicographicallyPrecedes(second)
        }
    }
}

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

/// Where an item stands in a feed: in which section, and where in it.
struct FeedPosition: Hashable {
    /// Its index in the data source.
    var section: Int
    var item: SortPosition

    init(section: Int = 0, item: SortPosition) {
        self.section = section
        self.item = item
    }
}
