/// Makes pages of a viewer's list, such as the saved cells: newest first, without advertisements.
package struct ViewerListAssembler: Sendable {
    private let list: ViewerList
    private let path: String
    private let store: any FeedStore
    private let ledger: any Ledger
    private let factories: CellFactories
    private let links: Links
    private let tokens: CellTokens
    private let signer: Signer

    /// - Parameter path: where the list is served, such as `/saved`.
    package init(
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

    /// One page. It holds `limit` cells unless it is the last; cells whose item is gone are left out. Along `previous` the same pages come
    /// in reverse, as long as the list stays as it is.
    ///
    /// - Throws: ``FeedError`` where the request is wrong, and for the cursor of another viewer's list; ``StoreError``.
    package func page(
        of viewer: String, cursor text: String?, limit: Int, now: Int64, layout: CellLayout = .collection, width: Int? = nil
    ) async throws -> FeedPage {
        guard FeedRequest.limits.contains(limit) else { throw FeedError.limitOutOfRange(limit) }
        let digest = PageCursor.digest(ofFeed: "\(list.rawValue)\u{0}\(viewer)")
        var cursor: PageCursor?
        if let text {
            do { cursor = try PageCursor(text: text, feed: digest, signer: signer) } catch { throw FeedError.cursor(error) }
        }
        let context = CellContext(links: links, tokens: tokens, now: now, hasViewer: true, layout: layout, width: width)
        let reader = ListReader(list: list, viewer: viewer, store: store, ledger: ledger, factories: factories, context: context)
        let stretch = try await ListStretch(reader: reader, cursor: cursor, limit: limit)

        func href(_ direction: PageDirection, of mark: Int64?) -> String? {
            mark.map { mark in
                links.page(
                    path: path,
                    cursor: PageCursor(direction: direction, place: FeedPlace(item: ItemPlace(position: mark))).text(
                        feed: digest, signer: signer), limit: limit,
                    layout: layout, width: width)
            }
        }
        return FeedPage(
            entries: stretch.cells.map {
                FeedPage.Entry(FinishedCell($0.viewModel), position: $0.viewModel.subject.item.position, in: context)
            }, limit: limit,
            next: href(.forward, of: stretch.next), previous: href(.backward, of: stretch.previous), sections: nil,
            validUntil: CellTokens.endOfBucket(of: now), omissions: [])
    }
}
