extension FeedAssembler {
    /// Pages that a client can ask about at once.
    public static let heldPageLimit = 16
    /// Changes that are told; beyond them it is cheaper to take the pages anew, for both sides.
    public static let changeLimit = 200

    /// What became of the pages that a client holds.
    ///
    /// The feed is walked anew from where the first of them begins, over as many pages as the client holds, on one snapshot of the store.
    /// So its list is afterwards what somebody else would get by that walk: no cell twice, and none missing where two pages meet.
    /// - Parameters:
    ///   - texts: ``FeedPage/since`` of each page, in the order of the feed, each page the next one of the page before.
    ///   - request: as that for a page; cursor, limit, layout and width come from the texts.
    /// - Throws: ``ChangesError``, `StoreError`.
    public func changes(since texts: [some StringProtocol], _ request: FeedRequest) async throws -> FeedChanges {
        guard !texts.isEmpty else { throw ChangesError.invalid }
        guard texts.count <= Self.heldPageLimit else { return .reload }
        do {
            let held = try texts.map { try heldPage($0) }
            let changed = ChangedPages(held: held.flatMap(\.cells), pages: try await pages(held, request))
            return changed.changes.count > Self.changeLimit ? .reload : .changed(changed)
        } catch ChangesError.outdated {
            return .reload
        }
    }

    private func heldPage(_ text: some StringProtocol) throws(ChangesError) -> HeldPage {
        let page = try HeldPage(text: text)
        guard page.feed == digest else { throw .outdated }
        return page
    }

    /// As many pages as are held, or fewer where the feed ends before, from the first one's cursor.
    private func pages(_ held: [HeldPage], _ request: FeedRequest) async throws -> [FeedPage] {
        var first: PageCursor?
        if let text = held.first?.cursor {
            do { first = try cursor(text) } catch { throw ChangesError.outdated }
        }
        let requests = held.map { page in
            var request = request
            request.limit = page.limit
            request.layout = page.layout
            request.width = page.width
            request.followsChanges = true
            return request
        }
        let version = store.version
        return try await store.read { [first] snapshot in
            var pages: [FeedPage] = []
            var cursor = first
            for request in requests {
                let page = try assemble(request, cursor: cursor, version: version, snapshot: snapshot)
                pages.append(page)
                guard let following = page.following else { break }
                cursor = following
            }
            return pages
        }
    }

    /// What a client that holds the page asks for changes with.
    func since(_ entries: [FeedPage.Entry], _ request: FeedRequest, _ cursor: PageCursor?) -> String? {
        HeldPage(
            feed: digest, cursor: cursor.map(text), limit: request.limit, layout: request.layout, width: request.width,
            cells: entries.map { HeldCell($0.viewModel) }
        ).text
    }
}
