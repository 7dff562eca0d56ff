struct FeedPosition: Hashable {
    var section: Int = 0
    var item: SortPosition
}
