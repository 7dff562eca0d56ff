import IntertwineFeed

/// Where the items of an import go. Used by one thread at a time.
protocol ImportDestination {
    /// Writes items that nobody else sees yet.
    ///
    /// - Returns: what became of them, as far as can be told now.
    mutating func write(_ batch: [ValidItem]) throws -> ImportCounts

    /// Makes everything visible, at once and durably.
    ///
    /// - Returns: by how much the counts of ``write(_:)`` were wrong.
    mutating func commit() throws -> ImportCounts

    /// Takes everything back. Does nothing after ``commit()``.
    mutating func rollback()
}

/// What became of items that were written.
struct ImportCounts {
    var added = 0
    var replaced = 0
    var withheld = Withheld()

    mutating func count(_ change: ItemChange, of item: ValidItem) {
        switch change {
        case .added: added += 1
        case .replaced: replaced += 1
        case .withheld: withheld.note(ItemKey(item))
        }
    }

    static func += (counts: inout ImportCounts, more: ImportCounts) {
        counts.added += more.added
        counts.replaced += more.replaced
        counts.withheld.add(more.withheld)
    }
}
