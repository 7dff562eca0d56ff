/// The progress of a loop over all rows of a stream or section, which reads them in batches so that a store query is bounded.
struct RowBatch {
    /// The maximum number of rows of one query.
    static let size = 500

    /// The position of the last row of the batch.
    private(set) var last: SortPosition?
    private var count = 0
    private var isStopped = false

    init() {}

    /// Counts a row. Returns false if the loop has stopped.
    mutating func take(_ row: ItemRow) -> Bool {
        (count, last) = (count + 1, row.sortPosition)
        return !isStopped
    }

    mutating func stop() { isStopped = true }

    /// True if another batch follows.
    var continues: Bool { !isStopped && count == Self.size }
}
