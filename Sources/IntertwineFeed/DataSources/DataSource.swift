/// A collection of items, flat or in sections: the content of a feed, with its order.
///
/// A data source is created once and used for every page. It reads items from the snapshot of each page, so that all of a page is consistent.
/// ``FlatDataSource`` and ``SectionedDataSource`` read the streams of a ``FeedStore``. A custom data source may read items from anywhere, as
/// long as their positions are ordered.
///
/// ```swift
/// The newest items of the store first.
/// struct NewestItems: DataSource {
///     let sectionCount = 1
///
///     func itemCount(in section: Int, of snapshot: any FeedSnapshot) throws -> Int {
///         try snapshot.count(in: .content)
///     }
///
///     func items(
///         in section: Int, _ direction: PageDirection, of place: SortPosition?, limit: Int, from snapshot: any FeedSnapshot
///     ) throws -> [FeedItem] {
///         try snapshot.items(in: .content, direction == .forward ? .backward : .forward, of: place?.position, limit: limit)
///     }
///
///     func isDescending(_ section: Int) -> Bool { true }
/// }
/// ```
public protocol DataSource: Sendable {
    /// The number of sections, including empty ones.
    var sectionCount: Int { get }

    /// Returns the number of items in a section, including items that cannot be shown.
    ///
    /// The cost may depend on the number of items. Pages do not call it, except for ads at the midpoint of the whole feed.
    func itemCount(in section: Int, of snapshot: any FeedSnapshot) throws -> Int

    /// Returns items of a section in its order or, if `backward`, in reverse, beginning next to a position, which is excluded.
    ///
    /// Pagination uses this method: the cursor of a page is the position of its outermost item.
    /// - Parameters:
    ///   - place: The position to begin at; nil for the section's start or, if `backward`, its end.
    ///   - limit: The number of items; fewer are returned only if the section ends.
    func items(
        in section: Int, _ direction: PageDirection, of place: SortPosition?, limit: Int, from snapshot: any FeedSnapshot
    ) throws -> [FeedItem]

    /// Visits the items of ``items(in:_:of:limit:from:)`` one after another, without copying if their bytes are in memory.
    ///
    /// - Parameter body: Called for each item; must not read from the snapshot.
    func visit(
        _ section: Int, _ direction: PageDirection, of place: SortPosition?, limit: Int, from snapshot: any FeedSnapshot,
        _ body: (ItemRow) throws -> Void
    ) throws

    /// Returns the text of a section's header; nil for a section without a header.
    func title(of section: Int) -> LocalizedText?

    /// Returns the name of a section as sent to clients; nil if the feed shows no sections.
    func name(of section: Int) -> String?

    /// Returns true if the positions of a section descend: its first item has the greatest position.
    func isDescending(_ section: Int) -> Bool

    /// A Boolean value indicating whether ads are shown if the feed has no content. If false, the page is empty.
    var showsAdsAlone: Bool { get }

    /// Returns the ad placement of a section; nil for the feed's own placement.
    func placement(in section: Int) -> (any AdPlacement)?

    /// Returns the position of the item with an index in its section, or nil if the section is shorter. The cost may depend on the item count.
    func sortPosition(at index: Int, in section: Int, of snapshot: any FeedSnapshot) throws -> SortPosition?

    /// Returns the advertisements that are pinned among a section's content, from the least position to the greatest.
    ///
    /// - Parameter positions: The range of content positions. An ad that is pinned at a position is shown after the item there, whether that item
    ///   still exists or not, and before the next item.
    func listings(
        in section: Int, between positions: Range<Int64>, limit: Int, from snapshot: any FeedSnapshot
    ) throws -> [PinnedAd]

    /// Returns true if a section's items and their order depend only on the items' kinds, variants and positions.
    ///
    /// In-place updates of other fields then change neither the section's items nor their order.
    func dependsOnPositionsAlone(_ section: Int) -> Bool

    /// A description of the meaning of positions, such as the order of the sections. A cursor is rejected if it has changed.
    var scope: String { get }
}

extension DataSource {
    public var showsAdsAlone: Bool { true }
    public func title(of section: Int) -> LocalizedText? { nil }
    public func name(of section: Int) -> String? { nil }
    public func isDescending(_ section: Int) -> Bool { false }
    public func placement(in section: Int) -> (any AdPlacement)? { nil }
    public func dependsOnPositionsAlone(_ section: Int) -> Bool { false }
    public var scope: String { "" }

    public func listings(
        in section: Int, between positions: Range<Int64>, limit: Int, from snapshot: any FeedSnapshot
    ) throws -> [PinnedAd] { [] }

    public func visit(
        _ section: Int, _ direction: PageDirection, of place: SortPosition?, limit: Int, from snapshot: any FeedSnapshot,
        _ body: (ItemRow) throws -> Void
    ) throws {
        for item in try items(in: section, direction, of: place, limit: limit, from: snapshot) { try item.withRow(body) }
    }

    /// Iterates over the section: correct for every data source, but slower than one with its own count.
    public func sortPosition(at index: Int, in section: Int, of snapshot: any FeedSnapshot) throws -> SortPosition? {
        let batch = 500
        var rest = index
        var place: SortPosition?
        while true {
            let items = try items(in: section, .forward, of: place, limit: batch, from: snapshot)
            if rest < items.count { return items[max(0, rest)].sortPosition }
            guard items.count == batch else { return nil }
            rest -= batch
            place = items.last?.sortPosition
        }
    }

    /// Returns true if the first position comes before the second in the feed.
    func precedes(_ first: FeedPosition, _ second: FeedPosition) -> Bool {
        guard first.section == second.section else { return first.section < second.section }
        return isDescending(first.section) ? second.item < first.item : first.item < second.item
    }

    /// Returns a position next to the given one, from which reading towards `side` includes the item at the given position.
    func beside(_ place: FeedPosition, towards side: PageDirection) -> FeedPosition {
        let isUpward = (side == .backward) != isDescending(place.section)
        return FeedPosition(section: place.section, item: place.item.moved(by: isUpward ? 1 : -1))
    }

    /// Returns a position before all items of a section; ``end(of:)`` returns one after them.
    func start(of section: Int) -> FeedPosition {
        FeedPosition(section: section, item: SortPosition(position: isDescending(section) ? .max : .min))
    }
    func end(of section: Int) -> FeedPosition {
        FeedPosition(section: section, item: SortPosition(position: isDescending(section) ? .min : .max))
    }
}

/// An advertisement that is pinned among content.
public struct PinnedAd: Sendable, Hashable {
    /// The position of the last content item listed before the advertisement.
    public var position: Int64
    public var item: FeedItem

    public init(position: Int64, item: FeedItem) {
        self.position = position
        self.item = item
    }
}
