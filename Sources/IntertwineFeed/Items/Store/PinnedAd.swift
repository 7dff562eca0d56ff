package struct PinnedAd: Sendable, Hashable {
    package var position: Int64
    package var item: FeedItem

    package init(position: Int64, item: FeedItem) {
        self.position = position
        self.item = item
    }
}
