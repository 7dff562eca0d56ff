/// An advertisement that is pinned among content.
public struct PinnedAd: Sendable, Hashable {
    /// The position of the last content item listed before the advertisement.
    public var position: Int64
    /// The advertisement.
    public var item: FeedItem

    /// Creates an advertisement that follows a position of content.
    public init(position: Int64, item: FeedItem) {
        self.position = position
        self.item = item
    }
}
