/// What became of the pages that a client holds.
package enum FeedChanges: Sendable {
    /// Too much to tell, or nothing that could be told: the client takes its pages anew.
    case reload
    case changed(PageDiff)
}

/// Pages as they are now, and what turns the cells that a client holds into theirs.
package struct PageDiff: Sendable {
    /// The cells of all pages as the client holds them, one page after the other.
    package var clientCells: [ClientCell]
    /// As a fresh walk over so many pages finds them, each beginning where the one before ends.
    package var pages: [FeedPage]
    /// From ``held`` to the entries of ``pages``.
    package var changes: ListDiff

    /// What the next changes are asked for with; nil where they cannot be.
    package var since: String? {
        let texts = pages.compactMap(\.since)
        return texts.count == pages.count ? texts.joined(separator: ",") : nil
    }

    init(clientCells: [ClientCell], pages: [FeedPage]) {
        self.clientCells = clientCells
        self.pages = pages
        changes = ListDiff(from: clientCells, to: pages.flatMap { $0.entries.map(ClientCell.init) })
    }
}

extension FeedAssembler {
    /// Pages that a client can ask about at once.
    package static let clientPageLimit = 16
    /// Changes that are told; beyond them it is cheaper to take the pages anew, for both sides.
    package static let changeLimit = 200

    /// What became of the pages that a client holds.
    ///
    /// The feed is walked anew from where the first of them begins, over as many pages as the client holds, on one snapshot of the store.
    /// So its list is afterwards what somebody else would get by that walk: no cell twice, and none missing where two pages meet.
    /// - Parameters:
    ///   - texts: ``FeedPage/since`` of each page, in the order of the feed, each page the next one of the page before.
    ///   - request: as that for a page; cursor, limit, layout and width come from the texts.
    /// - Returns: ``FeedChanges/reload`` also for texts that are damaged, of another feed, of another version of the service, of pages that do not
    ///   follow each other, or whose cursor is signed with a key that is valid no more.
    /// - Throws: `StoreError`.
    package func changes(since texts: [some StringProtocol], _ request: FeedRequest) async throws -> FeedChanges {
        guard texts.count <= Self.clientPageLimit else { return .reload }
        let held = texts.compactMap { ClientPageState(text: $0) }
        guard !held.isEmpty, held.count == texts.count, held.allSatisfy({ $0.feed == digest }) else { return .reload }
        let cursors = held.map { page in page.cursor.flatMap { try? cursor($0) } }
        guard zip(held, cursors).allSatisfy({ $0.cursor == nil || $1 != nil }), Self.areInOrder(held, cursors) else { return .reload }
        let changed = PageDiff(clientCells: held.flatMap(\.cells), pages: try await pages(held, from: cursors.first ?? nil, request))
        return changed.changes.count > Self.changeLimit ? .reload : .changed(changed)
    }

    /// Whether each page is the next one of the page before: read from where that ends, or that one backward from where it begins.
    private static func areInOrder(_ held: [ClientPageState], _ cursors: [PageCursor?]) -> Bool {
        held.indices.dropFirst().allSatisfy { index in
            if let cursor = cursors[index], cursor.direction == .forward, cursor.position.digest == held[index - 1].edges.after {
                return true
            }
            guard let cursor = cursors[index - 1], cursor.direction == .backward else { return false }
            return cursor.position.digest == held[index].edges.before
        }
    }

    /// As many pages as are held, or fewer where the feed ends before.
    private func pages(_ held: [ClientPageState], from start: PageCursor?, _ request: FeedRequest) async throws -> [FeedPage] {
        let requests = held.map { page in
            var request = request
            request.limit = page.limit
            request.layout = page.layout
            request.width = page.width
            request.scale = page.scale
            // As it was when the client's walk began: its advertisements do not change with the hour.
            if page.hour > 0 { request.rotation?.hour = page.hour }
            // The same of its campaigns.
            if page.moment == 0 { request.campaigns = nil } else { request.campaigns?.moment = page.moment }
            request.followsChanges = true
            return request
        }
        let version = store.version
        return try await read(request) { [self] snapshot, marks in
            var pages: [FeedPage] = []
            var cursor = start
            for request in requests {
                let page = try assemble(request, cursor: cursor, version: version, snapshot: snapshot, viewerState: marks)
                pages.append(page)
                guard let following = page.following else { break }
                cursor = following
            }
            return pages
        }
    }

    /// What a client that holds the page asks for changes with.
    ///
    /// - Parameter isPaid: whether campaigns were asked about its places.
    func since(
        _ entries: [FeedPage.Entry], _ request: FeedRequest, _ cursor: PageCursor?, previous: PageCursor?, next: PageCursor?,
        isPaid: Bool
    ) -> String? {
        ClientPageState(
            feed: digest, cursor: cursor.map(text), limit: request.limit, layout: request.layout, width: request.width,
            scale: request.scale, hour: request.rotation?.hour ?? 0, moment: isPaid ? request.campaigns?.moment ?? 0 : 0,
            edges: ClientPageState.Edges(before: previous?.position.digest ?? 0, after: next?.position.digest ?? 0),
            cells: entries.map(ClientCell.init)
        ).text
    }
}
