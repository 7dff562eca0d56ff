/// An assembler of the pages of a viewer's list, such as the saved cells: newest first, without advertisements.
package struct ViewerListAssembler: Sendable {
    private let list: ViewerList
    private let path: String
    private let store: any FeedStore
    private let ledger: any Ledger
    private let factories: CellFactories
    private let links: Links
    private let tokens: CellTokens
    private let signer: Signer
    private let sourceItems: SourceItems

    package init(
        list: ViewerList, path: String, store: any FeedStore, ledger: any Ledger, factories: CellFactories, keys: SigningKeys,
        links: Links = Links(), tokens: CellTokens, sourceItems: SourceItems = SourceItems()
    ) {
        (self.list, self.path, self.store, self.ledger, self.factories) = (list, path, store, ledger, factories)
        (self.links, self.tokens, self.sourceItems) = (links, tokens, sourceItems)
        signer = keys.signer(for: .cursor)
    }

    /// The page has `limit` cells unless it is the last one.
    package func page(
        of viewer: String, cursor text: String?, limit: Int, now: Int64, layout: CellLayout = .collection, width: Int? = nil,
        scale: Int = 1, unsupportedCells: UnsupportedCells? = nil, client: String? = nil, language: FeedLanguage? = nil
    ) async throws -> FeedPage {
        guard FeedRequest.limits.contains(limit) else { throw FeedError.limitOutOfRange(limit) }
        let digest = PageCursor.digest(ofFeed: "\(list.rawValue)\u{0}\(viewer)")
        var cursor: PageCursor?
        if let text {
            do { cursor = try PageCursor(text: text, feed: digest, signer: signer) } catch { throw FeedError.cursor(error) }
        }
        var context = CellContext(
            links: links, tokens: tokens, now: now, hasViewer: true, layout: layout, width: width, scale: scale, language: language)
        if let unsupportedCells { context.unsupportedCells = unsupportedCells }
        let reader = ListReader(
            list: list, viewer: viewer, store: store, ledger: ledger, factories: factories, sourceItems: sourceItems,
            context: context)
        let listRange = try await ListRange(reader: reader, cursor: cursor, limit: limit)

        func href(_ direction: PageDirection, of mark: Int64?) -> String? {
            mark.map { mark in
                links.page(
                    path: path,
                    cursor: PageCursor(direction: direction, position: FeedPosition(item: SortPosition(position: mark))).text(
                        feed: digest, signer: signer), limit: limit,
                    layout: layout, width: width, scale: scale, client: client)
            }
        }
        return FeedPage(
            entries: listRange.cells.map {
                FeedPage.Entry(
                    RenderedCell($0.viewModel), state: $0.state, position: $0.viewModel.subject.item.position, in: context)
            }, limit: limit,
            next: href(.forward, of: listRange.next), previous: href(.backward, of: listRange.previous), sections: nil,
            validUntil: CellTokens.endOfBucket(of: now), omissions: listRange.omissions, language: language)
    }
}

/// A reader of the cells of a viewer's list next to an entry, which skips cells whose item was deleted.
private struct ListReader {
    struct Cell {
        var entryID: Int64
        var viewModel: CellViewModel
        var state: CellState
    }
    private static let missingLimit = 500

    /// Cells, with the entries before, between and after them that the client cannot show.
    struct Found {
        var cells: [Cell] = []
        /// The id of the last entry that was read, if reading stopped because too many entries have no cell; nil at the end of the list.
        var stop: Int64?
        var omissions: [(mark: Int64, omission: FeedPage.SkippedItem)] = []
    }

    let list: ViewerList
    let viewer: String
    let store: any FeedStore
    let ledger: any Ledger
    let factories: CellFactories
    let sourceItems: SourceItems
    let context: CellContext

    func cells(_ count: Int, _ direction: PageDirection, of mark: Int64?) async throws -> Found {
        var found = Found()
        var mark = mark
        var missing = 0
        while found.cells.count < count {
            let listed = try await entries(count, direction, after: mark)
            let others = try await sourceItems.items(
                ofCells: listed.map { ByteString($0.cell) }, missingIn: store, factories,
                for: FeedContext(viewer: viewer, language: context.language))
            let (cells, omissions) = try await store.read { [self] snapshot in
                let viewModels = try factories.viewModels(
                    of: listed.map { ByteString($0.cell) }, in: snapshot, besides: others, context: context
                ).filter { !factories.isCampaignAd($0.value.subject.item) }
                let cells = try ListMembership(of: viewer, in: ledger).read(with: factories.lists) { viewerState in
                    try viewerState.prefetch(listed.map { ($0.cell, viewModels[ByteString($0.cell)]?.subject.author) })
                    return try listed.compactMap { listed -> Cell? in
                        guard let viewModel = viewModels[ByteString(listed.cell)] else { return nil }
                        let author = viewModel.subject.author
                        if list != .muted, try viewerState.mutes(listed.cell, by: author) { return nil }
                        return Cell(
                            entryID: listed.entryID, viewModel: viewModel, state: try viewerState.state(of: listed.cell, by: author))
                    }
                }
                let missing = context.unsupportedCells == nil ? [] : listed.filter { viewModels[ByteString($0.cell)] == nil }
                return (cells, try missing.compactMap { listed in try omission(of: listed, in: snapshot).map { (listed.entryID, $0) } })
            }
            found.cells += cells.prefix(count - found.cells.count)
            found.omissions += omissions
            guard listed.count == count, let last = listed.last else { break }
            mark = last.entryID
            missing += listed.count - cells.count
            if missing >= Self.missingLimit, found.cells.count < count {
                found.stop = mark
                break
            }
        }
        return found
    }

    func hasCells(_ direction: PageDirection, of mark: Int64) async throws -> Bool {
        let found = try await cells(1, direction, of: mark)
        return !found.cells.isEmpty || found.stop != nil
    }

    private func omission(of listed: ListEntry, in snapshot: any StoreSnapshot) throws -> FeedPage.SkippedItem? {
        guard let name = factories.item(ofCell: listed.cell), let item = try snapshot.item(kind: name.kind, id: name.id) else { return nil }
        let form = item.type
        func omission(_ reason: FeedPage.SkippedItem.Reason) -> FeedPage.SkippedItem {
            FeedPage.SkippedItem(form: form, id: item.id, position: item.position, reason: reason)
        }
        if let cells = factories.unknownCells(of: form, in: context) {
            // Several versions of a cell have one name.
            return omission(
                .unknownToClient(cells.map(\.name).reduce(into: []) { names, name in if !names.contains(name) { names.append(name) } }))
        }
        do {
            _ = try factories.makeViewModel(for: item, in: context)
        } catch CellFactoryError.unknownToClient(let identifier) {
            return omission(.unknownToClient([identifier]))
        } catch {}
        return nil
    }

    private func entries(_ count: Int, _ direction: PageDirection, after mark: Int64?) async throws -> [ListEntry] {
        switch direction {
        case .forward: try await ledger.cells(on: list, of: viewer, after: mark, limit: count)
        case .backward: try await ledger.cells(on: list, of: viewer, before: mark ?? .min, limit: count)
        }
    }
}

private struct ListRange {
    let cells: [ListReader.Cell]
    let omissions: [FeedPage.SkippedItem]
    private(set) var next: Int64?
    private(set) var previous: Int64?

    init(reader: ListReader, cursor: PageCursor?, limit: Int) async throws {
        let direction = cursor?.direction ?? .forward
        let found = try await reader.cells(limit + 1, direction, of: cursor?.position.item.position)
        let shown = Array(found.cells.prefix(limit))
        let isComplete = found.cells.count <= limit && found.stop == nil
        omissions = found.omissions.filter { mark, _ in
            guard found.cells.count > limit, let last = shown.last else { return true }
            return direction == .forward ? mark > last.entryID : mark < last.entryID
        }.map(\.omission)
        cells = direction == .forward ? shown : shown.reversed()
        let first = cells.first?.entryID ?? cursor?.position.item.moved(by: -1).position
        let last = cells.last?.entryID ?? cursor?.position.item.moved(by: 1).position
        switch direction {
        case .forward:
            if !isComplete { next = found.stop ?? last }
            // The cell of the cursor may have been deleted.
            if cursor != nil, let first, try await reader.hasCells(.backward, of: first) { previous = first }
        case .backward:
            if !isComplete { previous = found.stop ?? first }
            if cursor != nil, let last, try await reader.hasCells(.forward, of: last) { next = last }
        }
    }
}
