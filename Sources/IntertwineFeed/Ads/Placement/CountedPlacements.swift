/// A placement with one ad slot after every `every` content items of a feed or section, independent of page sizes.
///
/// Items are counted across the pages of a pagination session, so no slot is repeated or skipped at a page boundary. A slot lies in front of an
/// item, so the end of a feed has no slot. Among items added in front of the session's first item, a slot lies behind every `every`-th item.
///
/// ```swift
/// let placement = EveryPlacement(every: 5, offset: 2)
/// ```
struct EveryPlacement: AdPlacement {
    /// The number of content items between two ad slots, at least 1.
    let every: Int
    /// The number of content items before the first ad slot.
    let offset: Int

    /// Creates a placement.
    ///
    /// - Parameter offset: The number of items before the first slot; equal to `every` if nil.
    init(every: Int, offset: Int? = nil) {
        self.every = max(1, every)
        self.offset = max(0, offset ?? every)
    }

    /// The policy: one advertisement for each slot.
    let supply = FillPolicy.perSlot
    /// True, because the items are counted across pages.
    let countsContent = true

    /// Returns the indices of the slots, at most one for each advertisement.
    ///
    /// ```swift
    /// let placement = EveryPlacement(every: 5, offset: 2)
    /// let indices = placement.indices(for: 3, in: ContentRange(count: 20))  // [2, 7, 12]
    /// ```
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
///
/// ```swift
/// let placement = FixedPlacement(at: [2, 7], scope: .page)
/// ```
package struct FixedPlacement: AdPlacement {
    /// The range in which the items are counted.
    package enum Scope: Sendable, Hashable {
        /// Each page separately. A number equal to the page's item count is the end of the page.
        case page
        /// The whole feed or section.
        case feed
    }

    /// The numbers of the items, ascending.
    package let numbers: [Int]
    /// The range in which the items are counted.
    package let scope: Scope

    /// Creates a placement. The numbers are sorted; negative and duplicate ones are ignored.
    package init(at numbers: [Int], scope: Scope = .page) {
        self.numbers = Set(numbers.filter { $0 >= 0 }).sorted()
        self.scope = scope
    }

    /// The policy: one advertisement for each slot.
    package let supply = FillPolicy.perSlot
    /// True if the items of the whole feed are counted.
    package var countsContent: Bool { scope == .feed }

    /// Returns the indices of the slots, at most one for each advertisement.
    ///
    /// ```swift
    /// let placement = FixedPlacement(at: [2, 7], scope: .page)
    /// let indices = placement.indices(for: 2, in: ContentRange(count: 5))  // [2]
    /// ```
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
///
/// It is for sections in import order. A section that is sorted by a field has no such positions.
struct PinnedPlacement: AdPlacement {
    /// Creates the placement, which has no settings.
    init() {}

    /// The policy: the pinned advertisements.
    let supply = FillPolicy.pinned

    /// Returns no indices, since the store provides the positions.
    func indices(for advertisements: Int, in range: ContentRange) -> [Int] { [] }
}
