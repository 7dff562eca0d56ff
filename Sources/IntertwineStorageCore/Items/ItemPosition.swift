package import IntertwineFeed

/// The positions of items in a stream, which are sparse, so that an item can be inserted between two others.
package enum ItemPosition {
    package static let step: Int64 = 1 << 20

    package static func next(after position: Int64) throws(StoreError) -> Int64 {
        let (next, isFull) = position.addingReportingOverflow(step)
        guard !isFull else { throw .unavailable("no position is free after \(position)") }
        return next
    }
}

extension PageDirection {
    package var outermost: Int64 { self == .forward ? .min : .max }
    package var words: (comparison: String, order: String) { self == .forward ? (">", "") : ("<", " DESC") }
}
