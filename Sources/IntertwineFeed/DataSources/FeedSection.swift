/// A section of a feed.
public struct FeedSection: Sendable {
    /// What clients are told it is called; unique in its feed.
    public var name: String
    /// The text of its header; nil for none.
    public var title: LocalizedText?
    /// Where its items stand in the store.
    public var stream: StreamID
    public var order: SectionSort
    /// Where advertisements stand in it; nil where the feed's own placement holds.
    public var placement: (any AdPlacement)?

    public init(
        _ name: String, title: String? = nil, stream: StreamID, order: SectionSort = .imported, placement: (any AdPlacement)? = nil
    ) {
        self.init(name, title: title.map { LocalizedText($0) }, stream: stream, order: order, placement: placement)
    }

    public init(
        _ name: String, title: LocalizedText?, stream: StreamID, order: SectionSort = .imported, placement: (any AdPlacement)? = nil
    ) {
        self.name = name
        self.title = title
        self.stream = stream
        self.order = order
        self.placement = placement
    }

    var reading: OrderedReading { OrderedReading(stream: stream, order: order) }
}

/// The order of a section's items.
public struct SectionSort: Sendable, Hashable {
    /// The order of first import: new items at the end.
    public static let imported = SectionSort()
    /// The last imported first.
    public static let newest = SectionSort(isDescending: true)

    /// Nil for the order of positions.
    public var field: SortField?
    /// From the greatest to the least; items that are alike in the field then stand from the last to the first position.
    public var isDescending: Bool

    public init(by field: SortField? = nil, isDescending: Bool = false) {
        self.field = field
        self.isDescending = isDescending
    }

    /// The same in words, for cursors.
    var text: String {
        let way = isDescending ? "-" : "+"
        return field.map { "\(way)\($0.comparison.rawValue) \($0.name)" } ?? way
    }
}

/// How a store is to lay out a section: which items stand in it, and by which fields it is read.
public struct SectionConfiguration: Sendable, Hashable {
    /// The section of everything that no other section takes. It is always there.
    public static let mainName = "main"

    public var name: String
    /// The kinds whose items stand in it; those of ``mainName`` are not listed.
    public var kinds: [String]
    /// Besides the order of the items' positions.
    public var fields: [SortField]
    /// How it is shown: operations that name places mean them in this order.
    public var order: SectionSort

    public init(_ name: String, kinds: [String] = [], fields: [SortField] = [], order: SectionSort = .imported) {
        self.name = name
        self.kinds = kinds
        self.fields = fields
        self.order = order
    }
}
