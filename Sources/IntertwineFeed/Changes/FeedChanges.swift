package enum FeedChanges: Sendable {
    case reload
    case changed(PageDiff)
}

package struct PageDiff: Sendable {
    var clientCells: [ClientCell]
    package var pages: [FeedPage]
    package var changes: ListDiff

    package var syncTokens: String? {
        let tokens = pages.compactMap(\.syncToken)
        return tokens.count == pages.count ? tokens.joined(separator: ",") : nil
    }

    init(clientCells: [ClientCell], pages: [FeedPage]) {
        self.clientCells = clientCells
        self.pages = pages
        changes = ListDiff(from: clientCells, to: pages.flatMap { $0.entries.map(ClientCell.init) })
    }
}

extension FeedAssembler {
    package static let clientPageLimit = 16
    static let changeLimit = 200

    package func changes(
        since syncTokens: [some StringProtocol], _ request: FeedRequest, for client: PageClient = PageClient()
    ) async throws -> FeedChanges {
        guard syncTokens.count <= Self.clientPageLimit else { return .reload }
        let held = syncTokens.compactMap { ClientPageState(text: $0) }
        guard !held.isEmpty, held.count == syncTokens.count, held.allSatisfy({ $0.feed == digest($0.filters) && isValid($0.filters) })
        else {
            return .reload
        }
        let cursors = held.map { page in page.cursor.flatMap { try? cursor($0, page.filters) } }
        guard zip(held, cursors).allSatisfy({ $0.cursor == nil || $1 != nil }), Self.areInOrder(held, cursors) else { return .reload }
        let pages = try await pages(held, from: cursors.first ?? nil, request, for: client)
        let changed = PageDiff(clientCells: held.flatMap(\.cells), pages: pages)
        return changed.changes.count > Self.changeLimit ? .reload : .changed(changed)
    }

    /// Tokens are not signed.
    private func isValid(_ values: [String: [String]]) -> Bool {
        values.allSatisfy { name, values in
            guard let filter = filters.first(where: { $0.name == name }) else { return false }
            return values.allSatisfy { value in (try? filter.value(value)).map { ByteString($0) == ByteString(value) } ?? false }
        }
    }

    private static func areInOrder(_ held: [ClientPageState], _ cursors: [PageCursor?]) -> Bool {
        held.indices.dropFirst().allSatisfy { index in
            if let cursor = cursors[index], cursor.direction == .forward, cursor.position.digest == held[index - 1].edges.after {
                return true
            }
            guard let cursor = cursors[index - 1], cursor.direction == .backward else { return false }
            return cursor.position.digest == held[index].edges.before
        }
    }

    private func pages(
        _ held: [ClientPageState], from start: PageCursor?, _ request: FeedRequest, for client: PageClient
    ) async throws -> [FeedPage] {
        let requests = held.map { page in
            var (request, client) = (request, client)
            request.limit = page.limit
            request.layout = page.layout
            request.width = page.width
            request.scale = page.scale
            request.filters = page.filters
            // The hour at the start of the client's session, so that its ads do not change with the hour.
            if page.hour > 0, request.rotationHour != nil { request.rotationHour = page.hour }
            // The time of the client's campaign decisions, so that its campaigns do not change either.
            if page.moment == 0 { client.targeting = nil } else { client.targeting?.moment = page.moment }
            request.followsChanges = true
            return (request, client)
        }
        let version = store.version
        return try await withRows(for: request, client) { rows in
            try await read(for: client) { [self] snapshot, viewerState in
                var pages: [FeedPage] = []
                var cursor = start
                for (request, client) in requests {
                    let page = try assemble(session(request, for: client, cursor, at: version, in: snapshot, viewerState, rows))
                    pages.append(page)
                    guard let following = page.following else { break }
                    cursor = following
                }
                return pages
            }
        }
    }

    func syncToken(_ entries: [FeedPage.Entry], of slots: AdSlots, previous: PageCursor?, next: PageCursor?) -> String? {
        let (session, request) = (slots.session, slots.session.request)
        return ClientPageState(
            feed: digest(request.filters), cursor: session.cursor.map { text($0, request.filters) }, limit: request.limit,
            layout: request.layout, width: request.width,
            scale: request.scale, hour: request.rotationHour ?? 0, moment: slots.viewed?.moment ?? 0,
            edges: ClientPageState.Edges(before: previous?.position.digest ?? 0, after: next?.position.digest ?? 0),
            cells: entries.map(ClientCell.init), filters: request.filters
        ).text
    }
}
