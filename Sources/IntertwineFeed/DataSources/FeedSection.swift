/// A section of a feed.
///
/// ```swift
/// let news = FeedSection("news", title: "News", stream: .content, order: .newest)
/// let cards = FeedSection("cards", title: "Cards", source: ArrayDataSource(items))
/// ```
public struct FeedSection: Sendable {
    /// The section's name as sent to clients, unique in its feed; nil in a feed that shows no sections.
    public var name: String?
    /// The text of the section's header; nil for no header.
    public var title: LocalizedText?
    /// The stream of the store that contains the section's items; nil if the data source reads them elsewhere.
    public var stream: StreamID?
    /// The order of the items in the section. Items of a data source have the order of that source.
    public var order: SectionSort
    /// The ad placement of the section; nil for the feed's own placement.
    public var placement: (any AdPlacement)?
    private(set) var reader: SourceReader?

    /// Creates a section with the own items of a data source.
    public init(
        _ name: String? = nil, title: LocalizedText? = nil, source: some DataSource, placement: (any AdPlacement)? = nil
    ) {
        self.init(name, title: title, stream: nil, order: SectionSort(isDescending: source.isNewestFirst), placement: placement)
        reader = SourceReader(source)
    }

    /// Creates a section with the items of a stream, and a title in one language.
    ///
    /// - Parameter stream: The stream of the store; nil if the data source reads the items elsewhere.
    public init(
        _ name: String? = nil, title: String? = nil, stream: StreamID? = nil, order: SectionSort = .imported,
        placement: (any AdPlacement)? = nil
    ) {
        self.init(name, title: title.map { LocalizedText($0) }, stream: stream, order: order, placement: placement)
    }

    /// Creates a section with the items of a stream, and a title in any number of languages.
    ///
    /// - Parameter stream: The stream of the store; nil if the data source reads the items elsewhere.
    public init(
        _ name: String?, title: LocalizedText?, stream: StreamID?, order: SectionSort = .imported, placement: (any AdPlacement)? = nil
    ) {
        (self.name, self.title, self.stream, self.order, self.placement) = (name, title, stream, order, placement)
    }

    var query: ItemQuery? { stream.map { ItemQuery($0, order: order) } }
}
