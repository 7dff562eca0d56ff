/// The request for a page, with everything that all steps of its assembly read.
struct PageSession {
    let request: FeedRequest
    let client: PageClient
    /// The verified cursor of the request; nil for the first page.
    let cursor: PageCursor?
    let snapshot: any StoreSnapshot
    /// The store, and its version, which was read before the snapshot was taken.
    let store: any FeedStore
    let version: StoreVersion
    /// The viewer's state; nil without a viewer.
    let viewerState: ViewerState?
    /// The context in which content is rendered. Ads have the context of their page, see ``AdSlots/context``.
    let context: CellContext
    /// The items of asynchronous data sources that have been read for the page.
    let rows: SourceRows
    private let factories: CellFactories
    private let cells: RenderedCellCache

    // The members below are set by the ad sources while they prefetch.

    /// The campaigns, whose creatives are no house ads; nil if there are none.
    var campaignIndex: CampaignIndex?
    /// The targeting context if campaigns of the feed are active. Campaigns are then considered for the page's slots.
    var targeting: TargetingContext?
    /// House ads of the snapshot; nil if they are unknown.
    var houseAds: HouseAdInventory?
    /// The position that the page's house ads adjoin; nil for the first ones.
    var rotation: Int64?

    init(
        _ request: FeedRequest, for client: PageClient, cursor: PageCursor?, in snapshot: any StoreSnapshot, of store: any FeedStore,
        at version: StoreVersion, viewerState: ViewerState?, rows: SourceRows, context: CellContext, factories: CellFactories,
        cells: RenderedCellCache
    ) {
        self.rows = rows
        (self.request, self.client, self.cursor) = (request, client, cursor)
        (self.snapshot, self.store, self.version) = (snapshot, store, version)
        (self.viewerState, self.context, self.factories, self.cells) = (viewerState, context, factories, cells)
        rotation = cursor?.rotation
    }

    var direction: PageDirection { cursor?.direction ?? .forward }

    /// True if items may be skipped, so that one query of the content may not suffice.
    var maySkipContent: Bool { skipsDismissedCells || context.lacking != nil }

    /// True if dismissed cells are skipped without a record. If the client has unsupported cells, they are reported, also among dismissed ones.
    var skipsDismissedCells: Bool { viewerState.map { $0.hidesCells && context.lacking == nil } ?? false }

    /// Returns the renderer of the page's content.
    func renderer() -> CellRenderer { CellRenderer(factories: factories, cache: cells, context: context, viewerState: viewerState) }

    /// Returns a renderer of ads.
    ///
    /// - Parameters:
    ///   - context: The context of the page's ads.
    ///   - campaignIndex: The campaigns whose creatives are skipped.
    ///   - unknownLimit: The maximum number of ads unknown to the client that are skipped.
    func renderer(
        in context: CellContext, without campaignIndex: CampaignIndex? = nil, unknownLimit: Int = CellRenderer.unknownLimit
    ) -> CellRenderer {
        CellRenderer(
            factories: factories, cache: cells, context: context, viewerState: viewerState, without: campaignIndex,
            unknownLimit: unknownLimit)
    }
}
