import IntertwineFeed

extension SQLStatement {
    /// The six values of ``ItemSchema/insertion``.
    func bind(_ item: ValidItem, in lane: Lane, at position: Int64) throws {
        try bind(1, lane.rawValue)
        try bind(2, position)
        try bind(3, item.kind)
        try bind(4, item.id)
        try bind(5, item.variant)
        try bind(6, text: item.body)
    }
}
