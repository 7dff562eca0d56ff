/// The progress of a loop over all rows of a stream or section, which reads them in batches so that a store query is bounded.
struct RowBatch {
    static let size = 500

    private(set) var last: SortPosition?
    private(set) var count = 0
    private(set) var isStopped = false

    mutating func take(_ row: ItemRow) -> Bool {
        (count, last) = (count + 1, row.sortPosition)
        return !isStopped
    }

    mutating func stop() { isStopped = true }

    var continues: Bool { !isStopped && count == Self.size }
}
