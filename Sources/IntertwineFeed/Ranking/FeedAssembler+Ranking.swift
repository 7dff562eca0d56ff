extension FeedAssembler {
    package func forgetRanking(of viewer: String) { ranking?.forget(viewer) }

    /// Returns a page of the items that the ranker chooses. If it fails, the page has the viewer's last skeleton, or the feed's own order.
    func rankedPage(_ request: FeedRequest, for client: PageClient, by ranking: FeedRanking) async throws -> FeedPage {
        let cursor = try checkedCursor(of: request)
        let position = cursor?.ranked
        if let position, position.cursor == nil {
            return try await ownPage(request, for: client, from: cursor, besides: position.shown)
        }
        guard client.asksRanker else { return try await ownPage(request, for: client, from: nil, besides: position?.shown ?? []) }
        let context = sourceContext(of: request, for: client)
        var content = RankedContent(items: [], start: cursor?.position.item.position ?? 0, continues: false)
        let before = position?.shown ?? []
        var (next, met, isDegraded) = (position?.cursor, Set(before), false)
        var shown: [UInt32] = []
        for number in 0..<FeedRanking.requestLimit where shown.count < request.limit {
            let skeleton: FeedSkeleton
            do {
                skeleton = try await ranking.skeleton(
                    for: context, limit: request.limit - shown.count, after: next, isPreview: request.preview != nil)
            } catch {
                try Task.checkCancellation()
                isDegraded = true
                guard number == 0 else { break }
                guard cursor == nil, let last = ranking.lastSkeleton(for: context) else {
                    return try await ownPage(request, for: client, from: nil, besides: before)
                }
                skeleton = last
            }
            content.items += skeleton.items.compactMap { item in
                guard let name = factories.item(ofCell: item.cell), let cell = factories.cellID(kind: name.kind, id: name.id),
                    met.insert(RankedPosition.digest(of: cell.utf8)).inserted
                else { return nil }
                return FeedSkeleton.Item(cell: cell, reason: item.reason)
            }
            next = skeleton.cursor
            shown = try await shownItems(of: content, request, for: client)
            if next == nil || isDegraded { break }
        }
        if shown.isEmpty, next != nil { return try await ownPage(request, for: client, from: nil, besides: before) }
        if cursor == nil, !isDegraded, !content.items.isEmpty, request.preview == nil {
            ranking.remember(FeedSkeleton(content.items, cursor: next), for: context)
        }
        // What becomes visible only now would not be remembered.
        let visible = Set(shown)
        content.items.removeAll { !visible.contains(RankedPosition.digest(of: $0.cell.utf8)) }
        let all = before + shown
        content.continues = next != nil && all.count < RankedPosition.sessionLimit
        let following = RankedPosition(after: next ?? "", shown: all)
        let version = store.version
        var page = try await withRows(for: request, client) { [content, following] rows in
            try await read(for: client, purpose: request.purpose) { [self] snapshot, viewerState in
                let session = try session(request, for: client, cursor, at: version, in: snapshot, viewerState, rows)
                (session.ranked, session.rankedPosition) = (content, following)
                return try assembled(session)
            }
        }
        page.isDegraded = isDegraded
        return page
    }

    private func ownPage(
        _ request: FeedRequest, for client: PageClient, from cursor: PageCursor?, besides shown: [UInt32]
    ) async throws -> FeedPage {
        let version = store.version
        var page = try await withRows(for: request, client) { rows in
            try await read(for: client, purpose: request.purpose) { [self] snapshot, viewerState in
                let session = try session(request, for: client, cursor, at: version, in: snapshot, viewerState, rows)
                (session.excluded, session.rankedPosition) = (Set(shown), RankedPosition(after: nil, shown: shown))
                return try assembled(session)
            }
        }
        page.isDegraded = client.asksRanker
        return page
    }

    private func assembled(_ session: PageSession) throws -> FeedPage {
        var page = try assemble(session)
        page.age = session.snapshot.age
        logSkipped(page.omissions, of: session.request)
        return page
    }

    private func shownItems(of content: RankedContent, _ request: FeedRequest, for client: PageClient) async throws -> [UInt32] {
        let version = store.version
        return try await read(for: client, purpose: request.purpose) { [self] snapshot, viewerState in
            let session = try session(request, for: client, nil, at: version, in: snapshot, viewerState, SourceRows())
            (session.ranked, session.filter) = (content, RowFilter(request.filters, among: filters))
            return try content.read(for: session, factories).cells.map { RankedPosition.digest(of: $0.rendered.id.utf8) }
        }
    }
}
