/// A rule that decides where ad slots are among the content.
///
/// A placement works with counts only and sees neither items nor cells. It therefore works with every kind of item and cell.
///
/// ```swift
/// /// Shows up to two advertisements at the end of each page.
/// struct EndPlacement: AdPlacement {
///     let supply = FillPolicy.rotating(perPage: 2)
///
///     func indices(for advertisements: Int, in stretch: ContentRange) -> [Int] {
///         Array(repeating: stretch.count, count: advertisements)
///     }
/// }
/// ```
public protocol AdPlacement: Sendable {
    /// The policy that decides which advertisements a page gets.
    var supply: FillPolicy { get }

    /// A Boolean value indicating whether ad slots depend on ``ContentRange/start``. If true, cursors carry the number of content items passed.
    var countsContent: Bool { get }

    /// Returns the index of the content item in front of which each advertisement is shown, in order. An index equal to the count is the end.
    ///
    /// - Parameter range: The content of the page.
    /// - Returns: Ascending indices between 0 and the count. Advertisements beyond the number of indices are not shown.
    func indices(for advertisements: Int, in range: ContentRange) -> [Int]
}

extension AdPlacement {
    /// The default: false, because most placements consider each page separately.
    public var countsContent: Bool { false }
}

/// The policy by which a placement selects advertisements for a page.
public enum FillPolicy: Sendable, Hashable {
    /// A fixed number on each page; the next page continues with the next ones, and the first one follows the last.
    case rotating(perPage: Int)
    /// One for each ad slot; the next page continues with the next ones. If there are fewer advertisements than slots, they repeat.
    case perSlot
    /// All of them, once, on the page with the midpoint of the feed.
    case onceAtMidpoint
    /// The pinned advertisements, at the positions where an import listed them.
    case pinned

    /// True if a page may have slots that campaigns and the rotation fill.
    package var fillsSlots: Bool {
        switch self {
        case .rotating(let perPage): perPage > 0
        case .perSlot: true
        case .onceAtMidpoint, .pinned: false
        }
    }
}

/// The content of one page, as a placement sees it.
///
/// ```swift
/// let first = ContentRange(count: 20)
/// let second = ContentRange(count: 20, start: 20)
/// ```
public struct ContentRange: Sendable, Hashable {
    /// The number of content items on a page if a request states none.
    package static let usualCount = 20

    /// The number of content items on the page.
    public var count: Int
    /// The index in front of which the midpoint of the whole feed lies; nil if it is on another page or the supply does not need it.
    public var midpoint: Int?
    /// The number of content items of the section that the pagination session passed before this page.
    ///
    /// Negative if the page has items that were added before the first item of the session.
    public var start: Int64

    /// Creates the content of a page. By default, it is the first page of a session and has no midpoint of the feed.
    public init(count: Int, midpoint: Int? = nil, start: Int64 = 0) {
        self.count = count
        self.midpoint = midpoint
        self.start = start
    }
}

/// A placement that shows the advertisements as one block in the middle of the content: at index `count / 2`, like the sample app.
///
/// ```swift
/// let placement = MidpointPlacement(scope: .page(advertisements: 2))
/// let indices = placement.indices(for: 2, in: ContentRange(count: 20))  // [10, 10]
/// ```
public struct MidpointPlacement: AdPlacement {
    /// The range whose middle is used.
    public enum Scope: Sendable, Hashable {
        /// The middle of every page, with a fixed number of advertisements.
        case page(advertisements: Int)
        /// The middle of the whole feed, with all advertisements.
        case feed
    }

    /// The range whose middle is used.
    public let scope: Scope

    /// Creates a placement, by default with one advertisement in the middle of every page.
    public init(scope: Scope = .page(advertisements: 1)) {
        self.scope = scope
    }

    /// The policy of the scope: a fixed number on each page, or all advertisements once.
    public var supply: FillPolicy {
        switch scope {
        case .page(let advertisements): .rotating(perPage: advertisements)
        case .feed: .onceAtMidpoint
        }
    }

    /// Returns the middle for each advertisement; no indices if the midpoint of the feed is on another page.
    public func indices(for advertisements: Int, in range: ContentRange) -> [Int] {
        let index =
            switch scope {
            case .page: range.count / 2
            case .feed: range.midpoint
            }
        return index.map { Array(repeating: $0, count: advertisements) } ?? []
    }
}
