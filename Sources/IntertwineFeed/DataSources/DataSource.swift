/// A collection of anything, flat or in sections: what a feed shows, and in which order.
///
/// It is made once and reused for every page; what stands in it is read from the snapshot of the page's own moment, so that all of a page
/// fits together. ``FlatDataSource`` and ``SectionedDataSource`` read the lanes of a ``FeedStore``; one of your own may take its items
/// from anywhere, as long as it keeps to the order of places.
public protocol DataSource: Sendable {
    /// How many sections there are, empty ones included.
    var sectionCount: Int { get }

    /// How many items a section holds, those that cannot be shown included.
    ///
    /// The cost may depend on the number of items: pages do not ask, but for advertisements at the middle of the whole feed.
    func itemCount(in section: Int, of snapshot: any FeedSnapshot) throws -> Int

    /// Items of a section in its order (or, going `backward`, in reverse), beginning next to a place that is itself left out.
    ///
    /// This is how a feed is paged: a page's cursor is the place of its outermost item.
    /// - Parameters:
    ///   - place: where to begin; nil for the section's start or, going `backward`, its end.
    ///   - limit: exactly so many, unless the section ends before.
    func items(
        in section: Int, _ direction: PageDirection, of place: SortPosition?, limit: Int, from snapshot: any FeedSnapshot
    ) throws -> [FeedItem]

    /// The same items one after another, none of them copied where their bytes lie somewhere.
    ///
    /// - Parameter body: reads nothing else from the snapshot.
    func visit(
        _ section: Int, _ direction: PageDirection, of place: SortPosition?, limit: Int, from snapshot: any FeedSnapshot,
        _ body: (ItemRow) throws -> Void
    ) throws

    /// The text of a section's header; nil for a section without one.
    func title(of section: Int) -> LocalizedText?

    /// What clients are told a section is called; nil where the feed has no sections to tell of.
    func name(of section: Int) -> String?

    /// Whether a section's places descend: its first item has the greatest.
    func isDescending(_ section: Int) -> Bool

    /// Whether advertisements are shown where there is nothing else at all; an empty page otherwise.
    var showsAdsAlone: Bool { get }

    /// Where advertisements stand in a section; nil where the feed's own placement holds.
    func placement(in section: Int) -> (any AdPlacement)?

    /// The place of the item with an index in its section; nil where there are not so many. The cost may depend on the number of items.
    func sortPosition(at index: Int, in section: Int, of snapshot: any FeedSnapshot) throws -> SortPosition?

    /// Advertisements that were listed among a section's content, from the least position to the greatest.
    ///
    /// - Parameter positions: those of the content: one that is listed at a position stands behind the item there, whether or not there still is
    ///   one, and before the next.
    func listings(
        in section: Int, between positions: Range<Int64>, limit: Int, from snapshot: any FeedSnapshot
    ) throws -> [PinnedAd]

    /// Whether a section's items and their order depend on nothing but the items' kinds, variants and positions: what else an item says may change,
    /// and each stands where it stood.
    func dependsOnPositionsAlone(_ section: Int) -> Bool

    /// What the meaning of a place depends on, such as the order of the sections. A cursor is refused where this has changed.
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

    /// Walks the section: right for every data source, and slower than one that can count.
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

    /// Whether one place comes before another in the feed.
    func precedes(_ first: FeedPosition, _ second: FeedPosition) -> Bool {
        guard first.section == second.section else { return first.section < second.section }
        return isDescending(first.section) ? second.item < first.item : first.item < second.item
    }

    /// A place next to one: reading from it towards the side meets the item that stands at the place itself.
    func beside(_ place: FeedPosition, towards side: PageDirection) -> FeedPosition {
        let isUpward = (side == .backward) != isDescending(place.section)
        return FeedPosition(section: place.section, item: place.item.moved(by: isUpward ? 1 : -1))
    }

    /// A place before all items of a section, and one behind them.
    func start(of section: Int) -> FeedPosition {
        FeedPosition(section: section, item: SortPosition(position: isDescending(section) ? .max : .min))
    }
    func end(of section: Int) -> FeedPosition {
        FeedPosition(section: section, item: SortPosition(position: isDescending(section) ? .min : .max))
    }
}

/// An advertisement that was listed among content.
public struct PinnedAd: Sendable, Hashable {
    /// Of the content item that was listed last before it.
    public var position: Int64
    public var item: FeedItem

    public init(position: Int64, item: FeedItem) {
        self.position = position
        self.item = item
    }
}
