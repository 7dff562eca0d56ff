internal import Feed
internal import Foundation
internal import HTTPServer
public import Logging
internal import ServiceLifecycle
internal import Storage
internal import UnixSignals

/// The whole service, composed by hand from a configuration.
public struct FeedService: Sendable {
    private let configuration: ServiceConfiguration
    private let state: ServiceState
    private let servers: [(name: String, server: HTTPServer)]
    private let pictures: PictureProxy
    private let logger: Logger
    /// The routes of the public listener.
    let publicRoutes: [Route]

    /// - Parameter extensions: kinds of item, cells and commands besides those that the product comes with.
    /// - Throws: ``ConfigurationError`` or ``StoreError``, each one line for the person who starts it.
    public static func build(
        configuration: ServiceConfiguration, extensions: ServiceExtensions = ServiceExtensions(), logger: Logger
    ) throws -> FeedService {
        let store = try SQLiteStore(path: configuration.store.database)
        let ledger = try SQLiteLedger(
            path: configuration.store.ledgerDatabase, waiting: configuration.ledger.queue,
            lockTimeout: Double(configuration.ledger.patience.milliseconds) / 1_000)
        // After the stores, whose complaint about a missing folder says more.
        let keys = try configuration.signingKeys()
        var registry = CommandRegistry.standard
        for command in extensions.commands { try registry.register(command) }
        var factories = try CellFactories.standard(configuration.cells, commands: registry)
        try extensions.registerCells(&factories, registry)
        try configuration.kindsFile(extensions).register(
            in: &factories, commands: registry, hasViewers: configuration.cells.hasViewers)
        let pictures = try PictureProxy(configuration: configuration, keys: keys)
        let links = Links(
            base: configuration.server.publicURL.isEmpty ? nil : configuration.server.publicURL, image: pictures.links.href)
        let tokens = CellTokens(keys: keys, lifetime: configuration.events.tokenLifetime.milliseconds)
        let assembler = FeedAssembler(
            store: store, factories: factories, placement: configuration.feed.placement, keys: keys, links: links, tokens: tokens,
            logger: logger)
        let performer = ActionPerformer(
            store: store, ledger: ledger, factories: factories, registry: registry, links: links, tokens: tokens,
            undoWindow: configuration.actions.undo.milliseconds)
        let clients = ClientReader(settings: configuration.events, keys: keys)
        let verdicts = VerdictField(isTold: configuration.events.tellVerdict)
        let state = ServiceState()
        let clock: @Sendable () -> Int64 = WallClock.now
        let pages = FinishedPages(capacity: configuration.feed.cache.bytes)
        let crossOrigin = CrossOriginPolicy(configuration.crossOrigin, viewerHeader: configuration.events.viewerHeader)
        let format = PageFormat(
            viewerField: configuration.events.viewerHeader, maxAge: configuration.feed.maxAge.milliseconds / 1_000,
            variesByOrigin: crossOrigin != nil)
        let feed = FeedRoutes(assembler: assembler, store: store, ledger: ledger, clients: clients, pages: pages, format: format)
        let saved = SavedRoutes(
            assembler: ViewerListAssembler(
                list: .saved, path: "/saved", store: store, ledger: ledger, factories: factories, keys: keys, links: links, tokens: tokens),
            clients: clients, format: format)
        let health = HealthRoutes(store: store, ledger: ledger, state: state)
        let description = try APIDescription(
            viewerHeader: configuration.events.viewerHeader, publicURL: configuration.server.publicURL)
        let viewer = configuration.viewer.isServed ? ViewerRoutes(viewerHeader: configuration.events.viewerHeader).routes : []
        let routes =
            feed.routes + saved.routes
            + CellRoutes(performer: performer, clients: clients, verdicts: verdicts).routes
            + ClickRoutes(performer: performer, clients: clients, verdicts: verdicts).routes
            + EventRoutes(performer: performer, clients: clients).routes + pictures.routes + health.routes + viewer
            + DescriptionRoutes(description).routes
        let finishedPages = feed.finished(viewerField: configuration.events.viewerHeader, clock: clock)
        let finished: Router.Canned = { head in finishedPages(head) ?? pictures.finished.canned(for: head, now: clock() / 1_000) }
        let router = Router(routes, finished: finished, clock: clock, logger: logger)
        return FeedService(
            configuration: configuration, state: state,
            servers: [
                (
                    "service",
                    try HTTPServer(
                        configuration: configuration.publicServer,
                        handler: crossOrigin.map { CrossOriginHandler(policy: $0, router: router) as any HTTPHandler } ?? router)
                ),
                (
                    "admin",
                    try HTTPServer(
                        configuration: configuration.adminServer, handler: Router(health.routes, clock: clock, logger: logger))
                ),
            ], pictures: pictures, logger: logger, publicRoutes: routes)
    }

    /// Serves until the process is told to stop by SIGTERM or SIGINT, then finishes what is under way.
    ///
    /// - Parameter started: called once with the address of each listener, by name.
    /// - Throws: where an address cannot be listened on.
    public func run(started: @escaping @Sendable ([String: String]) -> Void = { _ in }) async throws {
        let listeners = Listeners(servers: servers, state: state, grace: configuration.server.grace, started: started)
        let group = ServiceGroup(
            configuration: .init(services: [listeners], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await group.run()
        await pictures.shutDown()
    }
}
