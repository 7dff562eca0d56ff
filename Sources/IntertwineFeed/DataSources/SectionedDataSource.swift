/// A data source with consecutive sections of the store.
///
/// ```swift
/// let source = SectionedDataSource([
///     FeedSection("news", title: "News", stream: .content, order: .newest)
/// ])
/// ```
public struct SectionedDataSource: DataSource {
    public let sections: [FeedSection]

    public let showsAdsAlone: Bool

    public init(_ sections: [FeedSection], showsAdsAlone: Bool = false) {
        self.sections = sections
        self.showsAdsAlone = showsAdsAlone
    }

    public var sectionCount: Int { sections.count }

    public func itemCount(in section: Int, of snapshot: any FeedSnapshot) throws -> Int {
        try self[section].map { try snapshot.count(in: $0.stream) } ?? 0
    }

    public func items(
        in section: Int, _ direction: PageDirection, of place: SortPosition?, limit: Int, from snapshot: any FeedSnapshot
    ) throws -> [FeedItem] {
        try self[section]?.reading.items(direction, of: place, limit: limit, from: snapshot) ?? []
    }

    public func visit(
        _ section: Int, _ direction: PageDirection, of place: SortPosition?, limit: Int, from snapshot: any FeedSnapshot,
        _ body: (ItemRow) throws -> Void
    ) throws {
        try self[section]?.reading.visit(direction, of: place, limit: limit, from: snapshot, body)
    }

    public func title(of section: Int) -> LocalizedText? { self[section]?.title }

    public func name(of section: Int) -> String? { self[section]?.name }

    public func isDescending(_ section: Int) -> Bool { self[section]?.order.isDescending ?? false }

    public func dependsOnPositionsAlone(_ section: Int) -> Bool { self[section]?.order.field == nil }

    public func placement(in section: Int) -> (any AdPlacement)? { self[section]?.placement }

    public func sortPosition(at index: Int, in section: Int, of snapshot: any FeedSnapshot) throws -> SortPosition? {
        try self[section]?.reading.sortPosition(at: index, of: snapshot)
    }

    public func listings(
        in section: Int, between positions: Range<Int64>, limit: Int, from snapshot: any FeedSnapshot
    ) throws -> [PinnedAd] {
        try self[section]?.reading.listings(between: positions, limit: limit, from: snapshot) ?? []
    }

    public var scope: String {
        sections.map { "\($0.name)\u{1}\($0.order.text)" }.joined(separator: "\u{2}")
    }

    private subscript(section: Int) -> FeedSection? {
        sections.indices.contains(section) ? sections[section] : nil
    }
}
