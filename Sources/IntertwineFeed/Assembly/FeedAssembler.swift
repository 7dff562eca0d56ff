package import Logging

/// An assembler of pages, which reads content and advertisements, renders their cells and merges them by the placement.
///
/// It is a class, because every page in progress holds a reference to it.
package final class FeedAssembler: Sendable {
    let store: any FeedStore
    package let factories: CellFactories
    let cells: RenderedCellCache
    let placement: any AdPlacement
    /// The data source of the feed's content.
    public let source: any DataSource
    /// The campaigns; nil if the feed has none.
    let campaigns: Campaigns?
    private let links: Links
    private let tokens: CellTokens
    /// The path at which the feed is served.
    public let path: String
    /// The name of the feed in reports and events. All sections of the feed share it.
    package let title: String
    let digest: UInt64
    private let signer: Signer
    /// The cached midpoint for each layout, with the types that the layout does not show and that do not count.
    private let midpoints: [CellLayout: (midpoint: VersionedCache<FeedPosition?>, hidden: Set<ItemType>)]
    private let rotations: [CellLayout: HouseAdRotation]
    private let rotatesPerViewer: Bool
    private let spacing: AdSpacing
    private let runs = DismissedRangeCache()
    private let logger: Logger
    /// The maximum time that requests wait for the search of the feed's midpoint.
    private static let maximumWait = Duration.milliseconds(20)
    /// The maximum number of advertisements unknown to the client that one page skips.
    private static let unknownAdvertisements = 64

    /// Creates an assembler.
    ///
    /// - Parameters:
    ///   - name: The name of the feed. Cursors carry a digest of it and are rejected by every other feed.
    ///   - title: The name of the feed in the ledger's events.
    ///   - path: The path at which the feed is served, such as `/feed`.
    ///   - source: The data source; by default all content of the store, without sections.
    ///   - cells: The cell cache. Only feeds with common factories, links and tokens may share one.
    ///   - isFair: True if pagination starts with the advertisement of ``FeedRequest/rotation``, false if it starts with the first one.
    ///   - spacing: The minimum distances between ads in a session.
    public init(
        name: String = "feed", title: String = "main", path: String = "/feed", store: any FeedStore,
        source: any DataSource = FlatDataSource(),
        factories: CellFactories, cells: RenderedCellCache = RenderedCellCache(), placement: any AdPlacement = MidpointPlacement(),
        campaigns: Campaigns? = nil,
        isFair: Bool = true, spacing: AdSpacing = AdSpacing(), keys: SigningKeys, links: Links = Links(), tokens: CellTokens, logger: Logger
    ) {
        self.store = store
        self.source = source
        self.factories = factories
        self.cells = cells
        self.placement = placement
        self.campaigns = campaigns
        self.links = links
        self.tokens = tokens
        self.path = path
        self.title = title
        self.logger = logger
        digest = PageCursor.digest(ofFeed: source.scope.isEmpty ? name : "\(name)\u{0}\(source.scope)")
        signer = keys.signer(for: .cursor)
        rotations = Dictionary(
            uniqueKeysWithValues: CellLayout.allCases.map { ($0, HouseAdRotation(types: factories.advertisementForms(in: $0))) })
        self.rotatesPerViewer = isFair
        self.spacing = spacing
        let shared = VersionedCache<FeedPosition?>(maximumWait: Self.maximumWait)
        midpoints = Dictionary(
            uniqueKeysWithValues: CellLayout.allCases.map { layout in
                let hidden = factories.unshownForms(in: layout)
                return (layout, (hidden.isEmpty ? shared : VersionedCache(maximumWait: Self.maximumWait), hidden))
            })
    }

    /// Returns one page.
    ///
    /// The page has `limit` content items unless it is the last one. Read backward, it can be shorter at the start of the feed.
    /// - Throws: ``FeedError`` if the request is invalid, ``StoreError`` if the store fails.
    public func page(_ request: FeedRequest, for purpose: ReadPurpose = .request) async throws -> FeedPage {
        let (cursor, version) = (try checkedCursor(of: request), store.version)
        return try await store.read(for: purpose) { [self] in try page(request, cursor, version, $0) }
    }

    /// Assembles a page and passes it to a completion handler, for callers without a Swift `Task`.
    ///
    /// - Parameter completion: Called once, on any thread, usually one that reads the store. It may encode the page but must not block. It fails
    ///   with the errors of ``page(_:for:)``.
    /// - Returns: A function that cancels the page, as for ``FeedStore/read(for:_:completion:)``; nil if there is nothing to cancel.
    public func page(
        _ request: FeedRequest, completion: @escaping @Sendable (Result<FeedPage, any Error>) -> Void
    ) -> (@Sendable () -> Void)? {
        do {
            let (cursor, version) = (try checkedCursor(of: request), store.version)
            return store.read(for: .request) { [self] in
                try page(request, cursor, version, $0)
            } completion: {
                completion($0)
            }
        } catch {
            completion(.failure(error))
            return nil
        }
    }

    private func page(
        _ request: FeedRequest, _ cursor: PageCursor?, _ version: StoreVersion, _ snapshot: any FeedSnapshot
    ) throws -> FeedPage {
        let recorder = request.isShared ? DependencyTrackingSnapshot(snapshot) : nil
        var page = try read(request, (recorder as (any FeedSnapshot)?) ?? snapshot) {
            try assemble(request, cursor: cursor, version: version, snapshot: $0, viewerState: $1)
        }
        page.dependencies = recorder?.dependencies
        logSkipped(page.omissions)
        return page
    }

    private func logSkipped(_ omissions: [FeedPage.SkippedItem]) {
        for omission in omissions {
            guard case .broken(let reason) = omission.reason else { continue }
            logger.warning(
                "invalid item omitted from the feed",
                metadata: ["kind": "\(omission.form.kind)", "id": "\(omission.id)", "reason": "\(reason)"])
        }
    }

    /// Reads the store together with the viewer's state.
    func read<Value: Sendable>(
        _ request: FeedRequest, for purpose: ReadPurpose = .request,
        _ body: @escaping @Sendable (any FeedSnapshot, ViewerState?) throws -> Value
    ) async throws -> Value {
        try await store.read(for: purpose) { [self] snapshot in try read(request, snapshot, body) }
    }

    private func read<Value>(
        _ request: FeedRequest, _ snapshot: any FeedSnapshot, _ body: (any FeedSnapshot, ViewerState?) throws -> Value
    ) throws -> Value {
        guard let viewerState = request.viewerState else { return try body(snapshot, nil) }
        return try viewerState.read { try body(snapshot, $0) }
    }

    /// Validates a cursor without reading the store.
    ///
    /// - Throws: ``FeedError/cursor(_:)``.
    public func validate(cursor text: String) throws(FeedError) {
        do { _ = try cursor(text) } catch { throw .cursor(error) }
    }

    func cursor(_ text: String) throws(CursorError) -> PageCursor {
        try PageCursor(text: text, feed: digest, signer: signer)
    }

    func text(_ cursor: PageCursor) -> String {
        cursor.text(feed: digest, signer: signer)
    }

    private func checkedCursor(of request: FeedRequest) throws(FeedError) -> PageCursor? {
        guard FeedRequest.limits.contains(request.limit) else { throw .limitOutOfRange(request.limit) }
        guard let text = request.cursor else { return nil }
        do { return try self.cursor(text) } catch { throw .cursor(error) }
    }

    func assemble(
        _ request: FeedRequest, cursor: PageCursor?, version: StoreVersion, snapshot: any FeedSnapshot, viewerState: ViewerState?
    ) throws -> FeedPage {
        var context = context(of: request)
        let reader = CellRenderer(factories: factories, cache: cells, context: context, viewerState: viewerState)
        // If the client has unsupported cells, they are reported as skipped, also among dismissed ones.
        let hiding = viewerState.flatMap { $0.hidesCells && context.lacking == nil ? $0 : nil }
        let known = hiding.flatMap { viewerState in
            viewerState.viewer.map {
                DismissedRanges(runs: runs, store: store, viewerState: viewerState, viewer: $0, layout: request.layout, version: version)
            }
        }
        let campaignIndex = try campaigns?.campaignIndex(at: version, in: snapshot, of: store)
        let meeting = campaignIndex.flatMap { $0.hasActiveCampaigns(feed: title, at: request.now) ? $0 : nil }
        // A page in the middle of a session may be the first one since the store changed. Unless their stream is known to hold nothing else,
        // advertisements are read type by type.
        let rotates = AdLayout.rotates(in: source, placement)
        let adRotation = rotations[request.layout] ?? HouseAdRotation(types: [])
        let stock =
            rotates ? try adRotation.stock(at: version, in: snapshot, of: store, without: campaignIndex) : adRotation.stock(at: version)
        var mark = cursor?.rotation
        if cursor == nil, rotates, rotatesPerViewer, let start = request.rotation, let stock {
            mark = try adRotation.offset(start, of: stock, in: snapshot)
        }
        if meeting == nil, let stock, stock.ownsStream {
            prefetchAds(after: mark, of: stock, to: snapshot, request, cursor, isComplete: hiding == nil && context.lacking == nil)
        }
        let content = try PageContent(
            source: source, snapshot: snapshot, cursor: cursor, limit: request.limit, reader: reader, over: known)
        let identity = PageCursor.identity(of: content.cells.first?.position, inFeed: digest)
        context.page = identity
        if meeting != nil {
            guard !request.isShared else { throw PageIsPersonalizedError() }
            // A page that is requested again later counts as another impression.
            if let facts = request.campaigns { context.page = facts.page(identity) }
        }
        let advertisements = AdCandidates(
            snapshot: snapshot, forms: adRotation.forms, stock: stock,
            reader: CellRenderer(
                factories: factories, cache: cells, context: context, viewerState: viewerState, without: campaignIndex,
                unknownLimit: Self.unknownAdvertisements))
        var paid = meeting.flatMap { campaignIndex in
            PageCampaigns(campaigns, campaignIndex, feed: title, of: digest, identity: identity, request, in: snapshot) {
                [factories, cells, context] in
                var context = context
                context.disclosure = $0
                return CellRenderer(factories: factories, cache: cells, context: context, viewerState: viewerState)
            }
        }
        var blocks = AdLayout(of: content, in: source, placement: placement, spacing: spacing, cursor: cursor)
        try blocks.fillSlots(cursor: cursor, offset: mark, advertisements: advertisements, campaigns: &paid)
        let sections = sectionsAroundMidpoint
        if !sections.isEmpty {
            let midpoint = try cursor?.midpoint ?? midpoint(of: sections, request.layout, at: version, in: snapshot)
            try blocks.put(at: midpoint, among: content, cursor: cursor, advertisements: advertisements)
        }
        try blocks.list(among: content, cursor: cursor, in: snapshot, advertisements: advertisements)
        blocks.number(advertisements)
        var headers = reader
        let entries = try entries(content, blocks, context, viewerState, headers: &headers)
        let next = blocks.next(content, after: cursor)
        let previous = blocks.previous(content, before: cursor)
        return FeedPage(
            entries: entries, limit: request.limit, next: href(next, for: request),
            previous: href(previous, for: request),
            sections: source.name(of: 0).map { _ in blocks.blocks.compactMap { $0.section.flatMap(source.name(of:)) } },
            syncToken: request.followsChanges
                ? syncToken(entries, request, cursor, previous: previous, next: next, isPaid: paid != nil) : nil,
            validUntil: CellTokens.endOfBucket(of: request.now), omissions: content.omissions + blocks.omissions + headers.omissions,
            following: next, decision: paid?.decision, language: request.language)
    }

    /// Prefetches the advertisements of a page together with its content.
    ///
    /// - Parameters:
    ///   - mark: The position after which the advertisements begin; nil for the first ones.
    ///   - isComplete: True if one read of the content suffices.
    private func prefetchAds(
        after mark: Int64?, of stock: HouseAdRotation.AdInventory, to snapshot: any FeedSnapshot, _ request: FeedRequest,
        _ cursor: PageCursor?,
        isComplete: Bool
    ) {
        guard source.sectionCount == 1, cursor?.direction != .backward else { return }
        let placement = source.placement(in: 0) ?? placement
        guard case .rotating(let count) = placement.supply, count > 0, !stock.isEmpty else { return }
        var reads = [ReadRequest(stream: .advertisements, position: mark, limit: count)]
        if let mark, stock.ends(within: count, after: mark) { reads.append(ReadRequest(stream: .advertisements, limit: count)) }
        snapshot.prefetch(reads, isComplete: isComplete)
    }

    private func midpoint(
        of sections: [Int], _ layout: CellLayout, at version: StoreVersion, in snapshot: any FeedSnapshot
    ) throws -> FeedPosition? {
        guard let (midpoint, hidden) = midpoints[layout] else { return nil }
        return try midpoint.value(at: version, in: snapshot, of: store) { [source] in
            try source.midpoint(of: sections, without: hidden, in: $0)
        }
    }

    /// The sections whose advertisements are shown once, at the midpoint of the feed.
    private var sectionsAroundMidpoint: [Int] {
        (0..<max(0, source.sectionCount)).filter { (source.placement(in: $0) ?? placement).supply == .onceAtMidpoint }
    }

    private func entries(
        _ content: PageContent, _ blocks: AdLayout, _ context: CellContext, _ viewerState: ViewerState?, headers: inout CellRenderer
    ) throws -> [FeedPage.Entry] {
        var entries: [FeedPage.Entry] = []
        entries.reserveCapacity(content.cells.count + blocks.blocks.reduce(0) { $0 + $1.advertisements.count + 1 })
        // The state is nil if the viewer has saved and selected no cell; no lookups are then necessary.
        let states = viewerState.flatMap { $0.hasStates ? $0 : nil }
        var slot = 0
        for (number, block) in blocks.blocks.enumerated() {
            let section = block.section.flatMap(source.name(of:))
            func append(_ finished: RenderedCell, of cell: CellRenderer.PlacedCell, adSlot: Int?) throws {
                let place = entries.count
                var showing = ImpressionContext(
                    campaign: cell.served?.campaign, feed: title, section: section, position: place, layout: context.layout,
                    remembered: cell.served?.remembered ?? 0)
                (showing.reservation, showing.ends) = (cell.served?.reservation, cell.served?.ends)
                entries.append(
                    FeedPage.Entry(
                        finished, state: try states?.state(of: finished.id) ?? [], adSlot: adSlot, position: cell.position.item.position,
                        repetition: cell.repetition, in: context, campaign: cell.served?.campaign,
                        showing: showing))
            }
            /// Appends a cell and its companions.
            func append(_ cell: CellRenderer.PlacedCell, adSlot: Int?) throws {
                try append(cell.rendered, of: cell, adSlot: adSlot)
                for companion in cell.companions { try append(companion, of: cell, adSlot: adSlot) }
            }
            if let section = block.section, number > 0 || !content.continuesSection,
                let header = try header(of: section, in: context.language, from: &headers)
            {
                try append(header, adSlot: nil)
            }
            var places = block.advertisements.makeIterator()
            var next = places.next()
            for index in 0...block.content.count {
                while let (place, cell) = next, place <= index {
                    try append(cell, adSlot: slot)
                    slot += 1
                    next = places.next()
                }
                if index < block.content.count {
                    try append(content.cells[block.content.lowerBound + index], adSlot: nil)
                }
            }
        }
        return entries
    }

    private func header(of section: Int, in language: FeedLanguage?, from reader: inout CellRenderer) throws -> CellRenderer.PlacedCell? {
        guard let title = source.title(of: section) else { return nil }
        return try reader.cell(of: SectionHeader(name: source.name(of: section) ?? String(section), title: title[language]).item)
    }

    func context(of request: FeedRequest) -> CellContext {
        var context = CellContext(
            links: links, tokens: tokens, now: request.now, hasViewer: request.hasViewer, layout: request.layout, width: request.width,
            scale: request.scale, language: request.language)
        if let lacking = request.lacking { context.lacking = lacking }
        return context
    }

    private func href(_ cursor: PageCursor?, for request: FeedRequest) -> String? {
        cursor.map {
            links.page(
                path: path, cursor: text($0), limit: request.limit, layout: request.layout, width: request.width,
                scale: request.scale, followsChanges: request.followsChanges, client: request.client)
        }
    }
}
