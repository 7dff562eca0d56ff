/// A section of a feed.
public struct FeedSection: Sendable {
    /// What clients are told it is called; unique in its feed.
    public var name: String
    /// The text of its header; nil for none.
    public var title: String?
    /// Where its items stand in the store.
    public var lane: Lane
    public var order: SectionOrder
    /// Where advertisements stand in it; nil where the feed's own placement holds.
    public var placement: (any AdPlacement)?

    public init(
        _ name: String, title: String? = nil, lane: Lane, order: SectionOrder = .imported, placement: (any AdPlacement)? = nil
    ) {
        self.name = name
        self.title = title
        self.lane = lane
        self.order = order
        self.placement = placement
    }

    var reading: LaneReading { LaneReading(lane: lane, order: order) }
}
