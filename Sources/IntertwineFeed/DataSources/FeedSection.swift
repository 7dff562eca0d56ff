/// A section of a feed.
public struct FeedSection: Sendable {
    /// The section's name as sent to clients, unique in its feed; nil in a feed that shows no sections.
    public var name: String?
    /// The text of the section's header; nil for no header.
    public var title: LocalizedText?
    /// The stream of the store that contains the section's items; nil if the data source reads them elsewhere.
    public var stream: StreamID?
    public var order: SectionSort
    /// The ad placement of the section; nil for the feed's own placement.
    public var placement: (any AdPlacement)?

    public init(
        _ name: String? = nil, title: String? = nil, stream: StreamID? = nil, order: SectionSort = .imported,
        placement: (any AdPlacement)? = nil
    ) {
        self.init(name, title: title.map { LocalizedText($0) }, stream: stream, order: order, placement: placement)
    }

    public init(
        _ name: String?, title: LocalizedText?, stream: StreamID?, order: SectionSort = .imported, placement: (any AdPlacement)? = nil
    ) {
        (self.name, self.title, self.stream, self.order, self.placement) = (name, title, stream, order, placement)
    }

    /// Returns the query for rows of the section's stream; nil if the store does not contain the section.
    func rows(_ query: SectionQuery) -> RowQuery? {
        let direction = order.isDescending ? query.direction.reversed : query.direction
        return stream.map { RowQuery(order.rows(of: $0), direction, of: query.anchor, limit: query.limit) }
    }
}

/// The order of a section's items.
public struct SectionSort: Sendable, Hashable {
    /// The order of first import, with new items at the end.
    public static let imported = SectionSort()
    /// The reverse order of import, with new items first.
    public static let newest = SectionSort(isDescending: true)

    /// The field to sort by; nil for the order of positions.
    public var field: SortField?
    /// True for the order from greatest to least. Items with equal field values are then ordered from the last to the first position.
    public var isDescending: Bool

    public init(by field: SortField? = nil, isDescending: Bool = false) {
        self.field = field
        self.isDescending = isDescending
    }

    /// Returns the rows of a stream, from which the section is read.
    func rows(of stream: StreamID) -> RowQuery.Rows { field.map { .sorted(stream, by: $0) } ?? .stream(stream) }

    /// The order as text, for the scope of cursors.
    var text: String {
        let way = isDescending ? "-" : "+"
        return field.map { "\(way)\($0.comparison.rawValue) \($0.name)" } ?? way
    }
}

/// The storage of a section: the kinds of its items, and the fields that it is sorted by.
public struct SectionConfiguration: Sendable, Hashable {
    /// The name of the section for all kinds that no other section contains. This section always exists.
    public static let mainName = "main"

    public var name: String
    /// The kinds whose items the section contains; empty for ``mainName``.
    public var kinds: [String]
    /// The fields by which the section can be sorted, in addition to the order of positions.
    public var fields: [SortField]
    /// The display order, to which operations on positions refer.
    public var order: SectionSort

    public init(_ name: String, kinds: [String] = [], fields: [SortField] = [], order: SectionSort = .imported) {
        self.name = name
        self.kinds = kinds
        self.fields = fields
        self.order = order
    }
}
