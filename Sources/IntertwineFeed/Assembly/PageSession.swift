/// The request of a page with what it is made of. A class, because all that takes part has it: copies were 2 % of the instructions of a page.
final class PageSession {
    let request: FeedRequest
    let client: PageClient
    let cursor: PageCursor?
    let snapshot: any StoreSnapshot
    /// The store, and its version, which was read before the snapshot was taken.
    let store: any FeedStore
    let version: StoreVersion
    let viewerState: ViewerState?
    let context: CellContext
    let rows: SourceRows
    let sourceContext: FeedContext
    let factories: CellFactories
    let cells: RenderedCellCache

    var ranked: RankedContent? {
        didSet { reasons = ranked?.reasons ?? [:] }
    }
    /// A part of the cursors of the adjacent pages.
    var rankedPosition: RankedPosition?
    /// The digests of cells that the session has shown already.
    var excluded: Set<UInt32> = []

    /// The content that matches the filters of the request.
    var content: any StoreSnapshot { filter.map { FilteredSnapshot(snapshot, by: $0) } ?? snapshot }
    var filter: RowFilter?
    /// True if the content is that of authors, which is read with more than one query.
    var isOfAuthors = false
    var newest: NewestItems?
    /// The filters that the feed has.
    var filters: [ItemFilter] = []

    /// The reasons for which the ranker or the data sources chose items, by cell.
    private(set) var reasons: [ByteString: String]

    init(
        request: FeedRequest, client: PageClient, cursor: PageCursor?, snapshot: any StoreSnapshot, store: any FeedStore,
        version: StoreVersion, viewerState: ViewerState?, context: CellContext, rows: SourceRows, sourceContext: FeedContext,
        factories: CellFactories, cells: RenderedCellCache
    ) {
        (self.request, self.client, self.cursor, self.viewerState, self.context) = (request, client, cursor, viewerState, context)
        (self.snapshot, self.store, self.version, self.rows) = (snapshot, store, version, rows)
        (self.sourceContext, self.factories, self.cells, reasons) = (sourceContext, factories, cells, rows.reasons(factories))
    }

    var direction: PageDirection { cursor?.direction ?? .forward }

    /// True if items may be skipped, so that one query of the content may not suffice.
    var maySkipContent: Bool { skipsDismissedCells || context.unsupportedCells != nil || rankedPosition != nil || isOfAuthors }

    var skipsDismissedCells: Bool { viewerState.map { $0.hidesCells && context.unsupportedCells == nil } ?? false }

    func renderer() -> CellRenderer {
        var renderer = CellRenderer(factories: factories, cache: cells, context: context, viewerState: viewerState)
        (renderer.excluded, renderer.reasons) = (excluded, reasons)
        return renderer
    }

    func renderer(in context: CellContext) -> CellRenderer {
        CellRenderer(factories: factories, cache: cells, context: context, viewerState: viewerState)
    }

    func houseAdRenderer(in context: CellContext) -> CellRenderer {
        CellRenderer(
            factories: factories, cache: cells, context: context, viewerState: viewerState, isForHouseAds: true,
            unknownLimit: HouseAds.unknownLimit)
    }
}
