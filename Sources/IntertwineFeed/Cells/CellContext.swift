/// The circumstances under which a cell view model is made: the same for every cell of a page, but for the slot.
public struct CellContext: Sendable {
    public var links: Links
    public var tokens: CellTokens
    /// Milliseconds since 1970-01-01 UTC.
    public var now: Int64
    /// Whether the request has a viewer, so that viewer-bound commands can be offered.
    public var hasViewer: Bool
    /// The index within the page's advertisements; 0 for content.
    public var slot: Int
    /// Tells the page from others, in what is minted for its cells; 0 where there is none.
    public var page: UInt32
    public var layout: CellLayout
    /// The client's width in points; nil where it is not known, and sizes are the contract's.
    public var width: Int?

    public init(
        links: Links, tokens: CellTokens, now: Int64, hasViewer: Bool = false, slot: Int = 0, page: UInt32 = 0,
        layout: CellLayout = .collection, width: Int? = nil
    ) {
        self.links = links
        self.tokens = tokens
        self.now = now
        self.hasViewer = hasViewer
        self.slot = slot
        self.page = page
        self.layout = layout
        self.width = width
    }
}

/// Which form of cells a client shows: those of a collection view, or the rows of a table view.
public enum CellLayout: String, Sendable, Hashable, CaseIterable {
    case collection, table
}
