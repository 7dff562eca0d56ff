internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineObservability
internal import IntertwinePrimitives
internal import IntertwineRouting

/// What follows from the configuration and can be made anew while requests go on: the feed, what its cells do, and the routes.
struct Composition: Sendable {
    let routes: [Route]
    let table: RouteTable
    let feeds: FeedCatalogue
    let pages: FinishedPages
    let cells: FinishedCells

    /// - Throws: where the configuration names cells or commands that there are not.
    init(_ configuration: ServiceConfiguration, parts: ServiceParts) throws {
        let (store, ledger, keys, pictures) = (parts.store, parts.ledger, parts.keys, parts.pictures)
        let factories = try configuration.cellFactories(
            parts.extensions, commands: parts.registry, kinds: configuration.kindsFile(of: parts.kindsText, parts.extensions))
        let links = Links(
            base: configuration.server.publicURL.isEmpty ? nil : configuration.server.publicURL, image: pictures.links.href)
        let tokens = CellTokens(keys: keys, lifetime: configuration.events.tokenLifetime.milliseconds)
        let sources = parts.feeds.sources(lanes: parts.lanes, scope: configuration.feed.adScope)
            .merging(parts.extensions.dataSources) { $1 }
        let cells = FinishedCells(capacity: configuration.feed.cells.bytes, counters: parts.cellCounters)
        let feeds = FeedCatalogue(sources) { name, path, source in
            FeedAssembler(
                name: name, path: path, store: store, source: source, factories: factories, cells: cells,
                placement: parts.extensions.placement ?? configuration.feed.placement,
                isFair: configuration.feed.adRotation == .fair,
                keys: keys, links: links, tokens: tokens, logger: parts.logger)
        }
        let performer = ActionPerformer(
            store: store, ledger: ledger, factories: factories, registry: parts.registry, links: links, tokens: tokens,
            undoWindow: configuration.actions.undo.milliseconds)
        let clients = ClientReader(settings: configuration.events, keys: keys)
        let idempotency = IdempotencyKeys(clients: clients, keys: keys)
        let verdicts = VerdictField(isTold: configuration.events.tellVerdict)
        let pages = FinishedPages(
            capacity: configuration.feed.cache.bytes, stale: configuration.feed.stale.milliseconds, metrics: parts.pageMetrics)
        let format = PageFormat(
            viewerField: configuration.events.viewerHeader, maxAge: configuration.feed.maxAge.milliseconds / 1_000,
            variesByOrigin: !configuration.crossOrigin.origins.isEmpty)
        let feed = FeedRoutes(
            feeds: feeds, store: store, ledger: ledger, clients: clients, pages: pages,
            shared: SharedPages(store: store, pages: pages, format: format, metrics: parts.pageMetrics), format: format,
            metrics: parts.pageMetrics)
        let lists = ViewerListRoutes(clients: clients, format: format) { list, path in
            ViewerListAssembler(
                list: list, path: path, store: store, ledger: ledger, factories: factories, keys: keys, links: links, tokens: tokens)
        }
        let clicks = ClickRoutes(performer: performer, clients: clients, redirects: FinishedRedirects(verdicts: verdicts))
        let api =
            feed.routes + lists.routes
            + CellRoutes(performer: performer, clients: clients, keys: idempotency, verdicts: verdicts).routes
            + clicks.routes + EventRoutes(performer: performer, clients: clients, keys: idempotency).routes + pictures.routes
            + HealthRoutes(store: store, ledger: ledger, state: parts.state, tag: "Operations").routes
        let description = APIDescription(
            of: api, kinds: parts.kinds, viewerHeader: configuration.events.viewerHeader, publicURL: configuration.server.publicURL)
        let viewer = configuration.viewer.isServed ? ViewerRoutes(viewerHeader: configuration.events.viewerHeader).routes : []
        routes = api + description.routes + viewer + parts.extensions.routes.map(\.route)
        let clock = parts.clock
        let finishedPages = feed.finished(viewerField: configuration.events.viewerHeader, clock: clock)
        let deferredPages = feed.deferred()
        table = RouteTable(routes) { head in
            finishedPages(head) ?? pictures.finished.finished(for: head, now: clock() / 1_000)
        } deferred: { head, peer, now in
            clicks.deferred(for: head, from: peer, now: now) ?? deferredPages(head, peer, now)
        }
        self.feeds = feeds
        self.pages = pages
        self.cells = cells
    }
}
