/// The progress of a loop over all rows of a stream or section, which reads them in batches so that a store query is bounded.
package struct RowBatch {
    /// The maximum number of rows of one query.
    package static let size = 500

    /// The position of the last row of the batch.
    package private(set) var last: SortPosition?
    private var count = 0
    private var isStopped = false

    package init() {}

    /// Counts a row. Returns false if the loop has stopped.
    package mutating func take(_ row: ItemRow) -> Bool {
        (count, last) = (count + 1, row.sortPosition)
        return !isStopped
    }

    package mutating func stop() { isStopped = true }

    /// True if another batch follows.
    package var continues: Bool { !isStopped && count == Self.size }
}
