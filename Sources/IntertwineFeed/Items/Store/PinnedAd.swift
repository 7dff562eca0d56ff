/// An advertisement that is pinned among content.
package struct PinnedAd: Sendable, Hashable {
    /// The position of the last content item listed before the advertisement.
    package var position: Int64
    /// The advertisement.
    package var item: FeedItem

    /// Creates an advertisement that follows a position of content.
    package init(position: Int64, item: FeedItem) {
        self.position = position
        self.item = item
    }
}
