struct FeedSections: Sendable {
    private let sections: [FeedSection]
    let placement: any AdPlacement

    init(_ sections: [FeedSection], placement: any AdPlacement) {
        (self.sections, self.placement) = (sections, placement)
    }

    var indices: Range<Int> { sections.indices }

    var scope: String {
        guard isNamed else {
            return sections.lazy.filter { $0.reader != nil || $0.stream != nil && $0.order != .imported }.map(Self.orderText)
                .joined(separator: "\u{2}")
        }
        return sections.lazy.filter { $0.reader != nil || $0.stream != nil }.map { "\($0.name ?? "")\u{1}\(Self.orderText(of: $0))" }
            .joined(separator: "\u{2}")
    }

    private static func orderText(of section: FeedSection) -> String {
        section.reader == nil ? section.order.text : section.order.isDescending ? "newest of source" : "source"
    }

    var readers: [SourceReader] { sections.compactMap(\.reader) }

    func reader(of section: Int) -> SourceReader? { sections.indices.contains(section) ? sections[section].reader : nil }

    var isNamed: Bool { sections.first?.name != nil }

    func order(of section: Int) -> SectionSort { sections[section].order }

    func name(of section: Int) -> String? { sections[section].name }

    func title(of section: Int) -> LocalizedText? { sections[section].title }

    func placement(in section: Int) -> any AdPlacement { sections[section].placement ?? placement }

    func members(where hasPolicy: (FillPolicy) -> Bool) -> [Int] { indices.filter { hasPolicy(placement(in: $0).supply) } }

    func dependsOnPositionsAlone(_ section: Int) -> Bool { sections[section].stream != nil && sections[section].order.field == nil }

    /// Returns the stream whose pinned ads a section shows; nil if a field orders the section, because pins refer to the import order.
    func pinnedStream(of section: Int) -> StreamID? { dependsOnPositionsAlone(section) ? sections[section].stream : nil }

    // MARK: Positions

    func isDescending(_ section: Int) -> Bool { sections.indices.contains(section) && sections[section].order.isDescending }

    func beside(_ place: FeedPosition, towards side: PageDirection) -> FeedPosition {
        let isUpward = (side == .backward) != isDescending(place.section)
        return FeedPosition(section: place.section, item: place.item.moved(by: isUpward ? 1 : -1))
    }

    func start(of section: Int) -> FeedPosition {
        FeedPosition(section: section, item: SortPosition(position: isDescending(section) ? .max : .min))
    }
    func end(of section: Int) -> FeedPosition {
        FeedPosition(section: section, item: SortPosition(position: isDescending(section) ? .min : .max))
    }
}
