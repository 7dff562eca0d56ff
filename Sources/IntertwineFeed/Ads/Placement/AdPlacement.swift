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
    /// The pinned advertisements, at the positions where an import listed them.
    case pinned

    var fillsSlots: Bool {
        switch self {
        case .rotating(let perPage): perPage > 0
        case .perSlot: true
        case .pinned: false
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
    static let usualCount = 20

    /// The number of content items on the page.
    public var count: Int
    /// The number of content items of the section that the pagination session passed before this page.
    ///
    /// Negative if the page has items that were added before the first item of the session.
    public var start: Int64

    /// Creates the content of a page. By default, it is the first page of a session.
    public init(count: Int, start: Int64 = 0) {
        self.count = count
        self.start = start
    }
}

/// A placement that shows the advertisements as one block in the middle of the content: at index `count / 2`, like the sample app.
package struct MidpointPlacement: AdPlacement {
    package let advertisements: Int

    package init(advertisements: Int = 1) {
        self.advertisements = advertisements
    }

    package var supply: FillPolicy { .rotating(perPage: advertisements) }

    package func indices(for advertisements: Int, in range: ContentRange) -> [Int] {
        Array(repeating: range.count / 2, count: advertisements)
    }
}
