public import Logging

/// Makes pages: asks the store for content and advertisements, has the factories make cells of them, and the placement merge them.
public struct FeedAssembler: Sendable {
    let store: any FeedStore
    let factories: CellFactories
    let placement: any AdPlacement
    let links: Links
    let tokens: CellTokens
    private let path: String
    let digest: UInt64
    private let signer: Signer
    private let midpoint = FeedMidpoint()
    private let logger: Logger

    /// - Parameters:
    ///   - name: of the feed. Cursors carry a digest of it, and are refused by every other feed.
    ///   - path: where the feed is served, such as `/feed`.
    public init(
        name: String = "feed", path: String = "/feed", store: any FeedStore, factories: CellFactories,
        placement: any AdPlacement = MidpointPlacement(), keys: SigningKeys, links: Links = Links(), tokens: CellTokens, logger: Logger
    ) {
        self.store = store
        self.factories = factories
        self.placement = placement
        self.links = links
        self.tokens = tokens
        self.path = path
        self.logger = logger
        digest = PageCursor.digest(ofFeed: name)
        signer = keys.signer(for: .cursor)
    }

    /// One page.
    ///
    /// It holds `limit` content items unless it is the last one; read backward, it can be shorter where it reaches the start of the feed.
    /// - Throws: ``FeedError`` where the request is wrong, ``StoreError`` where the store does not answer.
    public func page(_ request: FeedRequest) async throws -> FeedPage {
        guard FeedRequest.limits.contains(request.limit) else { throw FeedError.limitOutOfRange(request.limit) }
        let cursor = try cursor(of: request)
        let version = store.version
        let page = try await store.read { snapshot in
            try assemble(request, cursor: cursor, version: version, snapshot: snapshot)
        }
        for omission in page.omissions {
            guard case .broken(let reason) = omission.reason else { continue }
            logger.warning(
                "left a broken item out of the feed",
                metadata: ["kind": "\(omission.form.kind)", "id": "\(omission.id)", "reason": "\(reason)"])
        }
        return page
    }

    /// Checks a cursor without reading anything.
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

    private func cursor(of request: FeedRequest) throws(FeedError) -> PageCursor? {
        guard let text = request.cursor else { return nil }
        do { return try self.cursor(text) } catch { throw .cursor(error) }
    }

    func assemble(
        _ request: FeedRequest, cursor: PageCursor?, version: StoreVersion, snapshot: any FeedSnapshot
    ) throws -> FeedPage {
        let context = context(of: request)
        let reader = CellReader(factories: factories, context: context, hidden: request.hidden)
        let content = try PageContent(snapshot: snapshot, cursor: cursor, limit: request.limit, reader: reader)
        let advertisements = AdvertisementReader(
            snapshot: snapshot, forms: factories.advertisementForms(in: request.layout), reader: reader)
        let block =
            switch placement.supply {
            case .rotating(let perPage):
                // Only as many as have a place: the rotation goes on after the last one that was shown.
                try AdBlock(
                    rotating: placement.indices(for: max(0, perPage), in: ContentStretch(count: content.cells.count)).count,
                    cursor: cursor, advertisements: advertisements)
            case .onceAtMidpoint:
                try AdBlock(
                    atMidpoint: cursor?.midpoint ?? midpoint.position(at: version, in: snapshot), among: content, cursor: cursor,
                    advertisements: advertisements)
            }
        let entries = merge(content.cells, block)
        let next = block.next(content, after: cursor)
        return FeedPage(
            entries: entries, limit: request.limit, next: href(next, for: request),
            previous: href(block.previous(content, before: cursor), for: request),
            since: request.followsChanges ? since(entries, request, cursor) : nil,
            validUntil: CellTokens.endOfBucket(of: request.now), omissions: content.omissions + block.omissions, following: next)
    }

    private func merge(_ content: [CellReader.Cell], _ block: AdBlock) -> [FeedPage.Entry] {
        let indices = placement.indices(for: block.cells.count, in: ContentStretch(count: content.count, midpoint: block.midpointIndex))
        var entries: [FeedPage.Entry] = []
        entries.reserveCapacity(content.count + block.cells.count)
        var slots = zip(indices, block.cells).enumerated().makeIterator()
        var slot = slots.next()
        for index in 0...content.count {
            while let (number, (place, cell)) = slot, place <= index {
                entries.append(FeedPage.Entry(viewModel: cell.viewModel, adSlot: number))
                slot = slots.next()
            }
            if index < content.count { entries.append(FeedPage.Entry(viewModel: content[index].viewModel, adSlot: nil)) }
        }
        return entries
    }

    func context(of request: FeedRequest) -> CellContext {
        CellContext(
            links: links, tokens: tokens, now: request.now, hasViewer: request.hasViewer, layout: request.layout, width: request.width)
    }

    private func href(_ cursor: PageCursor?, for request: FeedRequest) -> String? {
        cursor.map {
            links.page(
                path: path, cursor: text($0), limit: request.limit, layout: request.layout, width: request.width,
                followsChanges: request.followsChanges)
        }
    }
}
