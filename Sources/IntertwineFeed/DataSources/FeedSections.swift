/// The sections of a feed, with the order of positions in them and the placement of their ads.
struct FeedSections: Sendable {
    private let sections: [FeedSection]
    /// The placement of sections that have none of their own.
    let placement: any AdPlacement

    init(_ sections: [FeedSection], placement: any AdPlacement) {
        (self.sections, self.placement) = (sections, placement)
    }

    var indices: Range<Int> { sections.indices }

    /// A description of the meaning of positions: the order of the sections that the store contains. A cursor is rejected if it has changed.
    var scope: String {
        guard isNamed else {
            return sections.lazy.filter { $0.reader != nil || $0.stream != nil && $0.order != .imported }.map(Self.orderText)
                .joined(separator: "\u{2}")
        }
        return sections.lazy.filter { $0.reader != nil || $0.stream != nil }.map { "\($0.name ?? "")\u{1}\(Self.orderText(of: $0))" }
            .joined(separator: "\u{2}")
    }

    private static func orderText(of section: FeedSection) -> String { section.reader == nil ? section.order.text : "source" }

    /// The readers of asynchronous data sources.
    var readers: [SourceReader] { sections.compactMap(\.reader) }

    /// Returns the reader of a section; nil if the section is not of an asynchronous data source.
    func reader(of section: Int) -> SourceReader? { sections.indices.contains(section) ? sections[section].reader : nil }

    /// True if clients receive the names of sections.
    var isNamed: Bool { sections.first?.name != nil }

    func name(of section: Int) -> String? { sections[section].name }

    func title(of section: Int) -> LocalizedText? { sections[section].title }

    func placement(in section: Int) -> any AdPlacement { sections[section].placement ?? placement }

    /// Returns the sections whose placement has a policy.
    func members(where hasPolicy: (FillPolicy) -> Bool) -> [Int] { indices.filter { hasPolicy(placement(in: $0).supply) } }

    /// Returns true if in-place updates of fields change neither the section's items nor their order.
    func dependsOnPositionsAlone(_ section: Int) -> Bool { sections[section].stream != nil && sections[section].order.field == nil }

    /// Returns the stream whose pinned ads a section shows; nil if a field orders the section, because pins refer to the import order.
    func pinnedStream(of section: Int) -> StreamID? { dependsOnPositionsAlone(section) ? sections[section].stream : nil }

    // MARK: Positions

    /// Returns true if the positions of a section descend: its first item has the greatest position.
    func isDescending(_ section: Int) -> Bool { sections.indices.contains(section) && sections[section].order.isDescending }

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
