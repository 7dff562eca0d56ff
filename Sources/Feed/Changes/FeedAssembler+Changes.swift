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
    /// - Returns: ``FeedChanges/reload`` also for texts that are damaged, of another feed, of another version of the service, or whose
    ///   cursor is signed with a key that is valid no more.
    /// - Throws: `StoreError`.
    public func changes(since texts: [some StringProtocol], _ request: FeedRequest) async throws -> FeedChanges {
        guard texts.count <= Self.heldPageLimit else { return .reload }
        let held = texts.compactMap { HeldPage(text: $0) }
        guard let first = held.first, held.count == texts.count, held.allSatisfy({ $0.feed == digest }) else { return .reload }
        var start: PageCursor?
        if let text = first.cursor {
            guard let cursor = try? cursor(text) else { return .reload }
            start = cursor
        }
        let changed = ChangedPages(held: held.flatMap(\.cells), pages: try await pages(held, from: start, request))
        return changed.changes.count > Self.changeLimit ? .reload : .changed(changed)
    }

    /// As many pages as are held, or fewer where the feed ends before.
    private func pages(_ held: [HeldPage], from start: PageCursor?, _ request: FeedRequest) async throws -> [FeedPage] {
        let requests = held.map { page in
            var request = request
            request.limit = page.limit
            request.layout = page.layout
            request.width = page.width
            request.followsChanges = true
            return request
        }
        let version = store.version
        return try await store.read { snapshot in
            var pages: [FeedPage] = []
            var cursor = start
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
