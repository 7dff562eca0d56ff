/// The position of an item in a feed: its section, and its position in that section.
struct FeedPosition: Hashable {
    /// The section's index in the data source.
    var section: Int
    var item: SortPosition

    init(section: Int = 0, item: SortPosition) {
        self.section = section
        self.item = item
    }
}
