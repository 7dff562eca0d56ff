import Feed

extension SQLStatement {
    /// The six values of ``ItemSchema/insertion``.
    func bind(_ item: ValidItem, in lane: Lane, at position: Int64) {
        bind(1, lane.rawValue)
        bind(2, position)
        bind(3, item.kind)
        bind(4, item.id)
        bind(5, item.variant)
        bind(6, text: item.body)
    }
}
