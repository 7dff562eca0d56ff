/// Makes pages of a viewer's list, such as the saved cells: newest first, without advertisements.
public struct ViewerListAssembler: Sendable {
    private let list: ViewerList
    private let path: String
    private let store: any FeedStore
    private let ledger: any Ledger
    private let factories: CellFactories
    private let links: Links
    private let tokens: CellTokens
    private let signer: Signer

    /// - Parameter path: where the list is served, such as `/saved`.
    public init(
        list: ViewerList, path: String, store: any FeedStore, ledger: any Ledger, factories: CellFactories, keys: SigningKeys,
        links: Links = Links(), tokens: CellTokens
    ) {
        self.list = list
        self.path = path
        self.store = store
        self.ledger = ledger
        self.factories = factories
        self.links = links
        self.tokens = tokens
        signer = keys.signer(for: .cursor)
    }

    /// One page. It holds `limit` cells unless it is the last; cells whose item is gone are left out. There is no way back: `previous` is nil.
    ///
    /// - Throws: ``FeedError`` where the request is wrong, and for the cursor of another viewer's list; ``StoreError``.
    public func page(
        of viewer: String, cursor text: String?, limit: Int, now: Int64, layout: CellLayout = .collection, width: Int? = nil
    ) async throws -> FeedPage {
        guard FeedRequest.limits.contains(limit) else { throw FeedError.limitOutOfRange(limit) }
        let digest = PageCursor.digest(ofFeed: "\(list.rawValue)\u{0}\(viewer)")
        var mark: Int64?
        if let text {
            do { mark = try PageCursor(text: text, feed: digest, signer: signer).place.item.position } catch {
                throw FeedError.cursor(error)
            }
        }
        let context = CellContext(links: links, tokens: tokens, now: now, hasViewer: true, layout: layout, width: width)
        var found: [(mark: Int64, viewModel: CellViewModel)] = []
        let batch = limit + 1
        while found.count <= limit {
            let listed = try await ledger.cells(on: list, of: viewer, after: mark, limit: batch)
            let viewModels = try await viewModels(of: listed.map(\.cell), in: context)
            found += listed.compactMap { listed in viewModels[listed.cell].map { (listed.mark, $0) } }
            guard listed.count == batch, let last = listed.last else { break }
            mark = last.mark
        }
        let shown = found.prefix(limit)
        var next: String?
        if found.count > limit, let last = shown.last {
            let cursor = PageCursor(direction: .forward, place: FeedPlace(item: ItemPlace(position: last.mark)))
            next = links.page(
                path: path, cursor: cursor.text(feed: digest, signer: signer), limit: limit, layout: layout, width: width)
        }
        return FeedPage(
            entries: shown.map { FeedPage.Entry(viewModel: $0.viewModel, adSlot: nil) }, limit: limit, next: next, previous: nil,
            sections: nil,
            validUntil: CellTokens.endOfBucket(of: now), omissions: [])
    }

    private func viewModels(of cells: [String], in context: CellContext) async throws -> [String: CellViewModel] {
        try await store.read { [factories] snapshot in
            try factories.viewModels(of: cells, in: snapshot, context: context)
        }
    }
}
