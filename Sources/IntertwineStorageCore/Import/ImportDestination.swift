package import IntertwineFeed

/// Used by one thread at a time.
package protocol ImportDestination {
    mutating func write(_ batch: [ValidatedItem]) throws -> ImportCounts

    mutating func finish() throws -> ImportCounts

    mutating func find(_ keys: [ItemKey]) throws -> FoundItems

    mutating func commit() throws -> ImportCounts

    mutating func rollback()
}

extension ImportDestination {
    package func finish() -> ImportCounts { ImportCounts() }
}

package struct FoundItems: Sendable {
    package var missing: Set<ItemKey>
    package var campaigns: Int

    package init(missing: Set<ItemKey> = [], campaigns: Int = 0) {
        (self.missing, self.campaigns) = (missing, campaigns)
    }
}

package struct ImportCounts {
    package var added: Int
    package var replaced: Int
    package var withheld: BlockedItems

    package init(added: Int = 0, replaced: Int = 0, withheld: BlockedItems = BlockedItems()) {
        (self.added, self.replaced, self.withheld) = (added, replaced, withheld)
    }

    package mutating func count(_ change: ItemChange, of item: ValidatedItem) {
        switch change {
        case .added: added += 1
        case .replaced: replaced += 1
        case .withheld: withheld.record(ItemKey(item))
        }
    }

    package static func += (counts: inout ImportCounts, more: ImportCounts) {
        counts.added += more.added
        counts.replaced += more.replaced
        counts.withheld.add(more.withheld)
    }
}
