/// Where an item stands in a feed: in which section, and where in it.
struct FeedPlace: Hashable {
    /// Its index in the data source.
    var section: Int
    var item: ItemPlace

    init(section: Int = 0, item: ItemPlace) {
        self.section = section
        self.item = item
    }
}
