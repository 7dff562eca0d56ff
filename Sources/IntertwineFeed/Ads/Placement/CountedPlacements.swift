/// A placement with one ad slot after every `every` content items of a feed or section, independent of page sizes.
/// Items are counted across the pages of a pagination session, so no slot is repeated or skipped at a page boundary. A slot lies in front
/// of an item, so the end of a feed has no slot.
struct EveryPlacement: AdPlacement {
    let every: Int
    let offset: Int

    init(every: Int, offset: Int? = nil) {
        self.every = max(1, every)
        self.offset = max(0, offset ?? every)
    }

    let supply = FillPolicy.perSlot
    /// True, because the items are counted across pages.
    let countsContent = true

    func indices(for advertisements: Int, in range: ContentRange) -> [Int] {
        let (every, offset) = (Int64(every), Int64(offset))
        let indices = (0...max(0, range.count)).lazy.filter { index in
            let (number, overflow) = range.start.addingReportingOverflow(Int64(index))
            guard !overflow else { return false }
            if number >= offset { return index < range.count && (number - offset) % every == 0 }
            // Items added in front of the session's first item have slots behind them, counted backward: the first item was read without a slot.
            return index > 0 && number <= 0 && number % every == 0
        }
        return Array(indices.prefix(max(0, advertisements)))
    }
}

/// A placement with ad slots in front of content items with fixed numbers, counted from 0.
package struct FixedPlacement: AdPlacement {
    package enum Scope: Sendable, Hashable {
        case page
        case feed
    }

    package let numbers: [Int]
    package let scope: Scope

    package init(at numbers: [Int], scope: Scope = .page) {
        self.numbers = Set(numbers.filter { $0 >= 0 }).sorted()
        self.scope = scope
    }

    package let supply = FillPolicy.perSlot
    package var countsContent: Bool { scope == .feed }

    package func indices(for advertisements: Int, in range: ContentRange) -> [Int] {
        let indices: [Int] =
            switch scope {
            case .page: numbers.filter { $0 <= range.count }
            case .feed:
                numbers.compactMap { number in
                    let (index, overflow) = Int64(number).subtractingReportingOverflow(range.start)
                    return !overflow && index >= 0 && index < Int64(range.count) ? Int(index) : nil
                }
            }
        return Array(indices.prefix(max(0, advertisements)))
    }
}

/// A placement that shows each advertisement where an import listed it among the content, once for each listing.
struct PinnedPlacement: AdPlacement {

    let supply = FillPolicy.pinned

    /// Returns no indices, since the store provides the positions.
    func indices(for advertisements: Int, in range: ContentRange) -> [Int] { [] }
}
