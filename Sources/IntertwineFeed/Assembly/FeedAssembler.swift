internal import IntertwinePrimitives
package import Logging

/// An assembler of pages: it reads content, finds ad slots, lets the ad sources fill them, and splices the cells.
/// It is a class, because every page in progress holds a reference to it.
package final class FeedAssembler: Sendable {
    let store: any FeedStore
    package let factories: CellFactories
    let cells: RenderedCellCache
    package let source: any DataSource
    let sections: FeedSections
    let ranking: FeedRanking?
    private let readers: [SourceReader]
    let sourceItems: SourceItems
    let campaigns: Campaigns?
    private let campaignAds: CampaignAds?
    private let houseAds: HouseAds
    private let adSources: [any AdSource]
    /// The indices in `adSources` of the embedding program's.
    private let ownAdSources: Range<Int>
    /// The decisions of sources of ads beside the built-in ones, for which a page may wait; nil without such sources.
    package let decisions: AdDecisions?
    private let decisionLimit: Duration
    private let links: Links
    private let tokens: CellTokens
    package let path: String
    package let title: String
    package let filters: [ItemFilter]
    private let digest: UInt64
    private let signer: Signer
    private let spacing: AdSpacing
    private let logger: Logger
    private let omissions = ReportThrottle()
    package let newest: NewestItems
    private let filterValues = VersionedCache<[[FilterValue]]>(maximumWait: .milliseconds(100))

    package init(
        name: String = "feed", title: String = "main", path: String = "/feed", store: any FeedStore,
        source: any DataSource = FlatDataSource(),
        factories: CellFactories, cells: RenderedCellCache = RenderedCellCache(), placement: any AdPlacement = MidpointPlacement(),
        campaigns: Campaigns? = nil, adSources: [any AdSource] = [], decisions: AdDecisions = AdDecisions(),
        decisionLimit: Duration = .seconds(2),
        isFair: Bool = true, spacing: AdSpacing = AdSpacing(), sourceItems: SourceItems = SourceItems(), ranking: FeedRanking? = nil,
        filters: [ItemFilter] = [], newest: NewestItems = NewestItems(),
        keys: SigningKeys, links: Links = Links(), tokens: CellTokens, logger: Logger
    ) {
        let sections = FeedSections(source.sections, placement: placement)
        let scope = ranking == nil ? sections.scope : "\(sections.scope)\u{3}ranked"
        let digest = PageCursor.digest(ofFeed: scope.isEmpty ? name : "\(name)\u{0}\(scope)")
        campaignAds = campaigns.map { CampaignAds(campaigns: $0, feed: title, digest: digest) }
        houseAds = HouseAds(in: sections, factories: factories, isFair: isFair)
        let paid: [any AdSource] = campaignAds.map { [$0] } ?? []
        self.adSources = paid + adSources + [houseAds, PinnedAds(in: sections)]
        ownAdSources = paid.count..<paid.count + adSources.count
        (self.decisions, self.decisionLimit) = (adSources.isEmpty ? nil : decisions, decisionLimit)
        (self.store, self.source, self.sections, self.factories, self.cells) = (store, source, sections, factories, cells)
        (self.campaigns, self.spacing, self.links, self.tokens) = (campaigns, spacing, links, tokens)
        (self.path, self.title, self.digest, self.logger) = (path, title, digest, logger)
        (readers, self.sourceItems, self.ranking, self.filters) = (sections.readers, sourceItems, ranking, filters)
        self.newest = newest
        signer = keys.signer(for: .cursor)
    }

    // MARK: Data sources

    /// It is never newer than that of a page that is read afterwards.
    package var version: FeedVersion { FeedVersion(store: store.version, sources: sourceVersion) }

    package var sourceVersion: UInt64 { source.version ^ readers.version }

    /// True if the feed is not a stream or sections of the store in the store's own order, so that ``sourceVersion`` may change.
    package var ordersItself: Bool { readsSources || !(source is FlatDataSource || source is SectionedDataSource) }

    package var readsSources: Bool { !readers.isEmpty }

    package var hasOwnAds: Bool { decisions != nil }

    /// True if each page is made for one request: no cache and no request of another viewer gets it.
    package var dependsOnViewer: Bool { hasOwnAds || hasViewersContent }

    private var hasViewersContent: Bool {
        ranking != nil || source.dependsOnViewer || readers.contains { $0.source.dependsOnViewer }
    }

    /// True if it matters for each page whether a person will see it.
    package var needsFacts: Bool { hasOwnAds || ranking != nil }

    /// True if a page may wait for a data source or a source of ads, and is assembled again then.
    package var mayWait: Bool { readsSources || hasOwnAds }

    package var hasPersonalItems: Bool { sourceItems.dependOnViewer }

    func sourceContext(of request: FeedRequest, for client: PageClient) -> FeedContext {
        guard hasViewersContent else { return FeedContext(language: request.language, filters: request.filters) }
        return FeedContext(
            viewer: client.viewer?.name, attributes: client.attributes?.values ?? [:], language: request.language, filters: request.filters)
    }

    private static let sourceReads = 64

    /// Why: threads of the store assemble pages, and a slow data source must not occupy one.
    func withRows<Value>(
        for request: FeedRequest, _ client: PageClient, _ body: (SourceRows) async throws -> Value
    ) async throws -> Value {
        var rows = SourceRows()
        let context = sourceContext(of: request, for: client)
        for _ in 0..<(mayWait ? Self.sourceReads + Self.clientPageLimit * adSources.count : 0) {
            do { return try await body(rows) } catch let missing as SourceRows.MissingError {
                guard let reader = sections.reader(of: missing.query.section) else { throw missing }
                rows.add(try await reader.items(missing.query, for: context), for: missing.query)
            } catch let undecided as AdDecisions.UndecidedError {
                decisions?.add(try await cells(of: undecided, now: request.now), for: undecided.question, now: request.now)
            }
        }
        guard mayWait else { return try await body(rows) }
        throw StoreError.unavailable("a page of \(path) needs too many reads of its data source")
    }

    private func cells(of asked: AdDecisions.UndecidedError, now: Int64) async throws -> [String?] {
        do {
            return try await withThrowingTaskGroup { [title, decisionLimit] group in
                defer { group.cancelAll() }
                group.addTask {
                    try await asked.source.decide(
                        asked.question.slots.count, of: title, for: asked.question.context, after: asked.question.state)
                }
                group.addTask {
                    try await Task.sleep(for: decisionLimit)
                    throw StoreError.unavailable("it exceeded its time limit of \(decisionLimit)")
                }
                return try await group.next() ?? []
            }
        } catch {
            try Task.checkCancellation()
            report(error, of: asked.source, now: now)
            return []
        }
    }

    private func report(_ error: any Error, of source: any AdSource, now: Int64) {
        guard omissions.repetitions(of: "ads \(source.name)", now: now) != nil else { return }
        logger.warning("a source of ads failed, and its slots are empty", metadata: ["source": "\(source.name)", "error": "\(error)"])
    }

    // MARK: Pages

    /// The page has `limit` content items unless it is the last one.
    package func page(_ request: FeedRequest, for client: PageClient = PageClient()) async throws -> FeedPage {
        if let ranking { return try await rankedPage(request, for: client, by: ranking) }
        let (cursor, version) = (try checkedCursor(of: request), store.version)
        return try await withRows(for: request, client) { rows in
            try await store.read(for: request.purpose) { [self] in try page(request, for: client, cursor, version, $0, rows) }
        }
    }

    /// It may encode the page but must not block.
    package func page(
        _ request: FeedRequest, for client: PageClient, completion: @escaping @Sendable (Result<FeedPage, any Error>) -> Void
    ) -> (@Sendable () -> Void)? {
        guard !mayWait, ranking == nil else { return perform(completion) { [self] in try await page(request, for: client) } }
        return read(request, for: .page, completion) { [self] in try page(request, for: client, $0, $1, $2, SourceRows()) }
    }

    package func sharedPage(
        _ request: FeedRequest, for purpose: ReadPurpose = .page, completion: @escaping @Sendable (Result<FeedPage?, any Error>) -> Void
    ) -> (@Sendable () -> Void)? {
        guard mayWait else {
            return read(request, for: purpose, completion) { [self] in try sharedPage(request, $0, $1, $2, SourceRows()) }
        }
        return perform(completion) { [self] in
            let (cursor, version) = (try checkedCursor(of: request), store.version)
            return try await withRows(for: request, PageClient()) { rows in
                try await store.read(for: purpose) { [self] in try sharedPage(request, cursor, version, $0, rows) }
            }
        }
    }

    private func perform<Page: Sendable>(
        _ completion: @escaping @Sendable (Result<Page, any Error>) -> Void, _ body: @escaping @Sendable () async throws -> Page
    ) -> @Sendable () -> Void {
        let task = Task {
            let page: Result<Page, any Error>
            do { page = .success(try await body()) } catch { page = .failure(error) }
            completion(page)
        }
        return { task.cancel() }
    }

    private func read<Page: Sendable>(
        _ request: FeedRequest, for purpose: ReadPurpose, _ completion: @escaping @Sendable (Result<Page, any Error>) -> Void,
        _ assemble: @escaping @Sendable (PageCursor?, StoreVersion, any StoreSnapshot) throws -> Page
    ) -> (@Sendable () -> Void)? {
        do {
            let (cursor, version) = (try checkedCursor(of: request), store.version)
            return store.read(for: purpose, { try assemble(cursor, version, $0) }, completion: completion)
        } catch {
            completion(.failure(error))
            return nil
        }
    }

    private func page(
        _ request: FeedRequest, for client: PageClient, _ cursor: PageCursor?, _ version: StoreVersion, _ snapshot: any StoreSnapshot,
        _ rows: SourceRows
    ) throws -> FeedPage {
        var page = try withState(of: client.viewer) { viewerState in
            try assemble(session(request, for: client, cursor, at: version, in: snapshot, viewerState, rows))
        }
        page.age = snapshot.age
        logSkipped(page.omissions, of: request)
        return page
    }

    private func sharedPage(
        _ request: FeedRequest, _ cursor: PageCursor?, _ version: StoreVersion, _ snapshot: any StoreSnapshot, _ rows: SourceRows
    ) throws -> FeedPage? {
        let campaignIndex = try campaigns?.campaignIndex(at: version, in: snapshot, of: store)
        guard campaignIndex?.hasActiveCampaigns(feed: title, at: request.now) != true else { return nil }
        let recorder = DependencyTrackingSnapshot(snapshot)
        var page = try assemble(session(request, for: PageClient(), cursor, at: version, in: recorder, nil, rows))
        (page.dependencies, page.age, page.expiry) = (recorder.dependencies, snapshot.age, recorder.expiry)
        logSkipped(page.omissions, of: request)
        return page
    }

    func logSkipped(_ skipped: [FeedPage.SkippedItem], of request: FeedRequest) {
        // The time of a preview is not that of the log, and its items are drafts.
        guard request.preview == nil else { return }
        for item in skipped {
            let reason: String
            switch item.reason {
            case .broken(let error): reason = error
            case .noFactory where !factories.knows(item.form): reason = CellFactoryError.noFactory(item.form).description
            case .noFactory, .unknownToClient: continue
            }
            // The reason is not part of it: it quotes values, so each broken item would have a line on each page.
            let kind = "\(item.form.kind) \(item.form.variant) \(item.reason == .noFactory)"
            guard let repeated = omissions.repetitions(of: kind, now: request.now) else { continue }
            var metadata: Logger.Metadata = ["kind": "\(item.form.kind)", "id": "\(item.id)", "reason": "\(reason)"]
            if repeated > 0 { metadata["since-the-last-line"] = "\(repeated)" }
            logger.warning("invalid item omitted from the feed", metadata: metadata)
        }
    }

    // MARK: Assembly

    func assemble(_ session: PageSession) throws -> FeedPage {
        (session.newest, session.filters) = (newest, filters)
        session.isOfAuthors = (source as? SectionedDataSource)?.followed != nil
        session.filter = RowFilter(session.request.filters, among: filters)
        var slots = AdSlots(for: session, of: sections, decisions)
        try campaignAds?.begin(&slots)
        try houseAds.begin(&slots)
        let content = try session.ranked?.read(for: session, factories) ?? PageReader(of: source, sections, for: session).read()
        slots.place(in: content, showsAdsAlone: source.showsAdsAlone, spacing: spacing, feed: digest(session.request.filters))
        for (number, ads) in adSources.enumerated() {
            let isOwn = ownAdSources.contains(number)
            // Robots get house ads only.
            if isOwn, session.client.targeting == nil { continue }
            slots.source = ads.name
            do { try ads.fill(&slots) } catch  where isOwn && slots.failure == nil {
                report(error, of: ads, now: session.request.now)
            }
            // A source may have caught it.
            if let failure = slots.failure { throw failure }
        }
        return try splice(&slots)
    }

    func session(
        _ request: FeedRequest, for client: PageClient, _ cursor: PageCursor?, at version: StoreVersion, in snapshot: any StoreSnapshot,
        _ viewerState: ViewerState?, _ rows: SourceRows
    ) throws -> PageSession {
        var (snapshot, context, cells) = (snapshot, context(of: request, for: client), cells)
        if let preview = request.preview {
            // It is cached for this version, so the preview must not be what it is read from.
            _ = try campaigns?.campaignIndex(at: version, in: snapshot, of: store)
            snapshot = PreviewSnapshot(snapshot, at: request.now, showsDrafts: preview.showsDrafts)
            context.tokens = CellTokens(keys: SigningKeys(current: .random()))
            cells = RenderedCellCache(capacity: 0)
        }
        return PageSession(
            request: request, client: client, cursor: cursor, snapshot: snapshot, store: store, version: version, viewerState: viewerState,
            context: context, rows: rows, sourceContext: sourceContext(of: request, for: client).scoped(to: source), factories: factories,
            cells: cells)
    }

    private func splice(_ slots: inout AdSlots) throws -> FeedPage {
        slots.number()
        let (session, request) = (slots.session, slots.session.request)
        var headers = session.renderer()
        let entries = try entries(of: slots, for: session, headers: &headers)
        let (next, previous) = (slots.cursor(.forward), slots.cursor(.backward))
        return FeedPage(
            entries: entries, limit: request.limit, next: href(next, for: request), previous: href(previous, for: request),
            sections: sections.isNamed && session.ranked == nil ? slots.blocks.compactMap { $0.section.flatMap(sections.name(of:)) } : nil,
            syncToken: request.followsChanges && ranking == nil ? syncToken(entries, of: slots, previous: previous, next: next) : nil,
            validUntil: CellTokens.endOfBucket(of: request.now),
            omissions: slots.content.omissions + slots.omissions + headers.omissions, following: next, decision: slots.decision,
            language: request.language)
    }

    private func entries(of slots: AdSlots, for session: PageSession, headers: inout CellRenderer) throws -> [FeedPage.Entry] {
        var entries: [FeedPage.Entry] = []
        entries.reserveCapacity(slots.content.cells.count + slots.slots.count + slots.blocks.count)
        // The state is nil if the viewer has saved and selected no cell; no lookups are then necessary.
        let states = session.viewerState.flatMap { $0.hasStates ? $0 : nil }
        try states?.prefetch(
            (slots.content.cells + slots.slots.compactMap(\.cell)).flatMap { cell in
                ([cell.rendered] + cell.companions).map { ($0.id, $0.author) }
            })
        let reasons = session.reasons
        let filters = ImpressionContext.filters(session.request.filters)
        var (adSlot, nextSlot) = (0, 0)
        for (number, block) in slots.blocks.enumerated() {
            let section = block.section.flatMap(sections.name(of:))
            func append(_ rendered: RenderedCell, of cell: CellRenderer.PlacedCell, adSlot: Int?) throws {
                let place = entries.count
                var impressionContext = ImpressionContext(
                    campaign: cell.served?.campaign, feed: title, section: section, position: place, layout: slots.context.layout,
                    frequencyCapTTL: cell.served?.frequencyCapTTL ?? 0)
                (impressionContext.served, impressionContext.filters) = (cell.served?.at, filters)
                entries.append(
                    FeedPage.Entry(
                        rendered, state: try states?.state(of: rendered.id, by: rendered.author) ?? [], adSlot: adSlot,
                        position: cell.position.item.position, repetition: cell.repetition,
                        reason: reasons.isEmpty ? nil : reasons[ByteString(rendered.id)], in: slots.context,
                        campaign: cell.served?.campaign, impressionContext: impressionContext))
            }
            func append(_ cell: CellRenderer.PlacedCell, adSlot: Int?) throws {
                try append(cell.rendered, of: cell, adSlot: adSlot)
                for companion in cell.companions { try append(companion, of: cell, adSlot: adSlot) }
            }
            if let section = block.section, number > 0 || !slots.content.continuesSection,
                let header = try header(of: section, in: session.request.language, from: &headers)
            {
                try append(header, adSlot: nil)
            }
            for index in 0...block.content.count {
                while nextSlot < slots.slots.count, slots.slots[nextSlot].block == number, slots.slots[nextSlot].index <= index {
                    if let cell = slots.slots[nextSlot].cell {
                        try append(cell, adSlot: adSlot)
                        adSlot += 1
                    }
                    nextSlot += 1
                }
                if index < block.content.count { try append(slots.content.cells[block.content.lowerBound + index], adSlot: nil) }
            }
        }
        return entries
    }

    private func header(of section: Int, in language: FeedLanguage?, from reader: inout CellRenderer) throws -> CellRenderer.PlacedCell? {
        guard let title = sections.title(of: section) else { return nil }
        return try reader.cell(of: SectionHeader(name: sections.name(of: section) ?? String(section), title: title[language]).item)
    }

    func context(of request: FeedRequest, for client: PageClient) -> CellContext {
        var context = CellContext(
            links: links, tokens: tokens, now: request.now, hasViewer: client.viewer != nil, layout: request.layout, width: request.width,
            scale: request.scale, language: request.language)
        if let unsupportedCells = request.unsupportedCells { context.unsupportedCells = unsupportedCells }
        return context
    }

    private func href(_ cursor: PageCursor?, for request: FeedRequest) -> String? {
        cursor.map {
            var href = links.page(
                path: path, cursor: text($0, request.filters), limit: request.limit, layout: request.layout, width: request.width,
                scale: request.scale, followsChanges: request.followsChanges, client: request.client)
            if !request.filters.isEmpty { href += "&" + RowFilter.text(request.filters) }
            return href
        }
    }

    // MARK: Cursors and state

    package func validate(cursor text: String, _ filters: [String: [String]] = [:]) throws(FeedError) {
        do { _ = try cursor(text, filters) } catch { throw .cursor(error) }
    }

    /// The identity of the list of items with these filters, so that cursors and tokens of other lists are rejected.
    func digest(_ filters: [String: [String]]) -> UInt64 {
        filters.isEmpty ? digest : PageCursor.digest(ofFeed: "\(digest) \(RowFilter.text(filters))")
    }

    func cursor(_ text: String, _ filters: [String: [String]]) throws(CursorError) -> PageCursor {
        try PageCursor(text: text, feed: digest(filters), signer: signer)
    }

    func text(_ cursor: PageCursor, _ filters: [String: [String]]) -> String {
        cursor.text(feed: digest(filters), signer: signer)
    }

    /// Returns the values of each filter with their numbers of items: the declared ones, or the most frequent ones.
    package func values() async throws -> [[FilterValue]] {
        let version = store.version
        if let known = filterValues.known(at: version) { return known }
        return try await store.read(for: .background) { [self] snapshot in
            try filterValues.value(at: version, in: snapshot, of: store) { [self] snapshot in
                try filters.map { try values(of: $0, in: snapshot) }
            }
        }
    }

    private func values(of filter: ItemFilter, in snapshot: any StoreSnapshot) throws -> [FilterValue] {
        var counts: [ByteString: Int] = [:]
        for section in source.sections {
            guard let stream = section.stream else { continue }
            for found in try snapshot.filterValues(filter, among: filters, in: stream, by: section.order) {
                counts[ByteString(found.value), default: 0] += found.count
            }
        }
        guard filter.choices.isEmpty else { return filter.choices.map { FilterValue(value: $0, count: counts[ByteString($0)] ?? 0) } }
        let all = counts.map { FilterValue(value: $0.key.text, count: $0.value) }
        return Array(all.sorted { ($1.count, $0.value) < ($0.count, $1.value) }.prefix(ItemFilter.listLimit))
    }

    func checkedCursor(of request: FeedRequest) throws(FeedError) -> PageCursor? {
        guard FeedRequest.limits.contains(request.limit) else { throw .limitOutOfRange(request.limit) }
        guard let text = request.cursor else { return nil }
        do { return try self.cursor(text, request.filters) } catch { throw .cursor(error) }
    }

    func read<Value: Sendable>(
        for client: PageClient, purpose: ReadPurpose = .request,
        _ body: @escaping @Sendable (any StoreSnapshot, ViewerState?) throws -> Value
    ) async throws -> Value {
        try await store.read(for: purpose) { [self] snapshot in
            try withState(of: client.viewer) { try body(snapshot, $0) }
        }
    }

    private func withState<Value>(of viewer: PageClient.Viewer?, _ body: (ViewerState?) throws -> Value) throws -> Value {
        guard let viewer else { return try body(nil) }
        return try viewer.state.read(with: factories.lists) { try body($0) }
    }
}
