package import IntertwineFeed

/// The positions of items in a stream, which are sparse, so that an item can be inserted between two others.
package enum ItemPosition {
    /// The distance between positions of appended items. It allows 20 insertions between two neighbours on one side before positions are
    /// moved.
    package static let step: Int64 = 1 << 20

    /// Returns the position for an item that is appended after another one.
    package static func next(after position: Int64) throws(StoreError) -> Int64 {
        let (next, isFull) = position.addingReportingOverflow(step)
        guard !isFull else { throw .unavailable("no position is free after \(position)") }
        return next
    }
}
