/// A section of a feed.
public struct FeedSection: Sendable {
    /// What clients are told it is called; unique in its feed.
    public var name: String
    /// The text of its header; nil for none.
    public var title: LocalizedText?
    /// Where its items stand in the store.
    public var lane: Lane
    public var order: SectionOrder
    /// Where advertisements stand in it; nil where the feed's own placement holds.
    public var placement: (any AdPlacement)?

    public init(
        _ name: String, title: String? = nil, lane: Lane, order: SectionOrder = .imported, placement: (any AdPlacement)? = nil
    ) {
        self.init(name, title: title.map { LocalizedText($0) }, lane: lane, order: order, placement: placement)
    }

    public init(
        _ name: String, title: LocalizedText?, lane: Lane, order: SectionOrder = .imported, placement: (any AdPlacement)? = nil
    ) {
        self.name = name
        self.title = title
        self.lane = lane
        self.order = order
        self.placement = placement
    }

    var reading: LaneReading { LaneReading(lane: lane, order: order) }
}

/// The order of a section's items.
public struct SectionOrder: Sendable, Hashable {
    /// The order of first import: new items at the end.
    public static let imported = SectionOrder()
    /// The last imported first.
    public static let newest = SectionOrder(isDescending: true)

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
public struct SectionPlan: Sendable, Hashable {
    /// The section of everything that no other section takes. It is always there.
    public static let mainName = "main"

    public var name: String
    /// The kinds whose items stand in it; those of ``mainName`` are not listed.
    public var kinds: [String]
    /// Besides the order of the items' positions.
    public var fields: [SortField]
    /// How it is shown: operations that name places mean them in this order.
    public var order: SectionOrder

    public init(_ name: String, kinds: [String] = [], fields: [SortField] = [], order: SectionOrder = .imported) {
        self.name = name
        self.kinds = kinds
        self.fields = fields
        self.order = order
    }
}
