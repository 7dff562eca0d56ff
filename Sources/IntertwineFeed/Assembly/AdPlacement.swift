/// Where advertisements stand among the content.
///
/// A placement decides from numbers alone: it sees neither items nor cells, so it serves every kind of both.
public protocol AdPlacement: Sendable {
    /// Which advertisements a page gets.
    var supply: FillPolicy { get }

    /// Whether places depend on ``ContentRange/start``: cursors then carry how much content a walk has met.
    var countsContent: Bool { get }

    /// For each advertisement, in order, the index of the content item in front of which it stands; the count stands for the end.
    ///
    /// - Parameter stretch: the content of the page.
    /// - Returns: ascending indices between 0 and the count. Advertisements beyond their number stay out.
    func indices(for advertisements: Int, in stretch: ContentRange) -> [Int]
}

extension AdPlacement {
    public var countsContent: Bool { false }
}

/// Which advertisements a placement wants for a page.
public enum FillPolicy: Sendable, Hashable {
    /// So many on each page, the next ones on the next page, and from the first again after the last.
    case rotating(perPage: Int)
    /// One for each place on the page, the next ones on the next page. Where there are fewer than places, the same ones again.
    case perSlot
    /// All of them, once, on the page where the middle of the feed lies.
    case onceAtMidpoint
    /// Those that were listed among the content, where they were listed (``DataSource/listings(in:between:limit:from:)``).
    case pinned
}

/// The content of one page, as a placement sees it.
public struct ContentRange: Sendable, Hashable {
    /// How many content items the page holds.
    public var count: Int
    /// The index in front of which the middle of the whole feed lies, where it lies on this page and the supply asked for it.
    public var midpoint: Int?
    /// How many content items of its section the walk met before it; where items were added before the first one of a walk, negative.
    public var start: Int64

    public init(count: Int, midpoint: Int? = nil, start: Int64 = 0) {
        self.count = count
        self.midpoint = midpoint
        self.start = start
    }
}

/// Puts the advertisements as one block into the middle of the content, as the sample app does: at index `count / 2`.
public struct MidpointPlacement: AdPlacement {
    /// The middle of what.
    public enum Scope: Sendable, Hashable {
        /// Of every page, with so many advertisements each.
        case page(advertisements: Int)
        /// Of the whole feed, with all of them.
        case feed
    }

    public let scope: Scope

    public init(scope: Scope = .page(advertisements: 1)) {
        self.scope = scope
    }

    public var supply: FillPolicy {
        switch scope {
        case .page(let advertisements): .rotating(perPage: advertisements)
        case .feed: .onceAtMidpoint
        }
    }

    public func indices(for advertisements: Int, in stretch: ContentRange) -> [Int] {
        let index =
            switch scope {
            case .page: stretch.count / 2
            case .feed: stretch.midpoint
            }
        return index.map { Array(repeating: $0, count: advertisements) } ?? []
    }
}
