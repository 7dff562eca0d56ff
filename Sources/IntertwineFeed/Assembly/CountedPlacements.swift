/// An advertisement after every so many content items of a feed or section, whatever the pages' sizes.
///
/// Items are counted as the walk meets them, so that pages neither repeat nor skip a place where they meet. A place lies in front of an item:
/// none is at the end of a feed. Of items that were added in front of a walk's first one, it lies behind an item, each `every` items.
public struct EveryPlacement: AdPlacement {
    /// Content items from one advertisement to the next, at least 1.
    public let every: Int
    /// Content items before the first one.
    public let offset: Int

    /// - Parameter offset: the same as `every` where nil.
    public init(every: Int, offset: Int? = nil) {
        self.every = max(1, every)
        self.offset = max(0, offset ?? every)
    }

    public let supply = FillPolicy.perSlot
    public let countsContent = true

    public func indices(for advertisements: Int, in stretch: ContentRange) -> [Int] {
        let (every, offset) = (Int64(every), Int64(offset))
        let indices = (0...max(0, stretch.count)).lazy.filter { index in
            let (number, overflow) = stretch.start.addingReportingOverflow(Int64(index))
            guard !overflow else { return false }
            if number >= offset { return index < stretch.count && (number - offset) % every == 0 }
            // What was added in front of a walk's first item has places behind it, counted backwards: the first item was met without one.
            return index > 0 && number <= 0 && number % every == 0
        }
        return Array(indices.prefix(max(0, advertisements)))
    }
}

/// Advertisements in front of content items with fixed numbers, counted from 0.
public struct FixedPlacement: AdPlacement {
    /// Where the items are counted.
    public enum Scope: Sendable, Hashable {
        /// On each page anew; a number that is the page's count of items stands for its end.
        case page
        /// Through the whole feed or section.
        case feed
    }

    /// Ascending.
    public let numbers: [Int]
    public let scope: Scope

    public init(at numbers: [Int], scope: Scope = .page) {
        self.numbers = Set(numbers.filter { $0 >= 0 }).sorted()
        self.scope = scope
    }

    public let supply = FillPolicy.perSlot
    public var countsContent: Bool { scope == .feed }

    public func indices(for advertisements: Int, in stretch: ContentRange) -> [Int] {
        let indices: [Int] =
            switch scope {
            case .page: numbers.filter { $0 <= stretch.count }
            case .feed:
                numbers.compactMap { number in
                    let (index, overflow) = Int64(number).subtractingReportingOverflow(stretch.start)
                    return !overflow && index >= 0 && index < Int64(stretch.count) ? Int(index) : nil
                }
            }
        return Array(indices.prefix(max(0, advertisements)))
    }
}

/// Each advertisement where an import listed it among the content; twice where it was listed twice.
///
/// It is for sections in the order of import; in one that is ordered by a field there is no such place.
public struct PinnedPlacement: AdPlacement {
    public init() {}

    public let supply = FillPolicy.pinned

    /// Where they stand is said by the store.
    public func indices(for advertisements: Int, in stretch: ContentRange) -> [Int] { [] }
}
