package import IntertwineFeed

/// Used by one thread at a time.
package protocol ImportDestination {
    mutating func write(_ batch: [ValidatedItem]) throws -> ImportCounts

    mutating func find(_ keys: [ItemKey]) throws -> FoundItems

    mutating func commit() throws -> ImportCounts

    mutating func rollback()
}

package struct FoundItems: Sendable {
    package var missing: Set<ItemKey>
    package var houseAds: Set<ItemKey>
    package var campaigns: Int

    package init(missing: Set<ItemKey> = [], houseAds: Set<ItemKey> = [], campaigns: Int = 0) {
        (self.missing, self.houseAds, self.campaigns) = (missing, houseAds, campaigns)
    }
}

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
