package import IntertwineFeed

/// A destination for the items of an import. Used by one thread at a time.
package protocol ImportDestination {
    /// Writes items that are not visible to readers yet.
    ///
    /// - Returns: the counts of changes, as far as they are known.
    mutating func write(_ batch: [ValidatedItem]) throws -> ImportCounts

    /// Finds items by their keys.
    mutating func find(_ keys: [ItemKey]) throws -> FoundItems

    /// Makes all items visible at once and durable.
    ///
    /// - Returns: the corrections of the counts so far.
    mutating func commit() throws -> ImportCounts

    /// Reverts all changes. Does nothing after ``commit()``.
    mutating func rollback()
}

/// The result of a search for items by their keys.
package struct FoundItems: Sendable {
    /// The missing items: neither in the store, nor imported earlier, nor taken down.
    package var missing: Set<ItemKey>
    /// The number of campaigns in the store.
    package var campaigns: Int

    package init(missing: Set<ItemKey> = [], campaigns: Int = 0) {
        (self.missing, self.campaigns) = (missing, campaigns)
    }
}

/// Counts of added, replaced and withheld items.
package struct ImportCounts {
    package var added: Int
    package var replaced: Int
    package var withheld: BlockedItems

    package init(added: Int = 0, replaced: Int = 0, withheld: BlockedItems = BlockedItems()) {
        (self.added, self.replaced, self.withheld) = (added, replaced, withheld)
    }

    package static func += (counts: inout ImportCounts, more: ImportCounts) {
        counts.added += more.added
        counts.replaced += more.replaced
        counts.withheld.add(more.withheld)
    }
}
