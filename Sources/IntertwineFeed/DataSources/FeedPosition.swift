struct FeedPosition: Hashable {
    var section: Int
    var item: SortPosition

    init(section: Int = 0, item: SortPosition) {
        self.section = section
        self.item = item
    }
}
