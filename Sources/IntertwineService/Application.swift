internal import Foundation
internal import IntertwineAds
internal import IntertwineCells
internal import IntertwineDeclarations
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineItems
internal import IntertwineLedger
public import IntertwineObservability
internal import IntertwineOperators
internal import IntertwinePrimitives
internal import IntertwineRouting
internal import IntertwineStorage
internal import IntertwineSync
internal import IntertwineTrackers
public import Logging
internal import ServiceLifecycle

extension FeedService {
    /// Creates and connects all parts of the service. This is the only composition root.
    ///
    /// - Parameters:
    ///   - extensions: The kinds of item, cells and commands of the embedding program.
    ///   - telemetry: The metrics and logs of the process; nil to create new ones.
    /// - Throws: `ConfigurationError` or `StoreError`, each with one line for the person who starts the service.
    public static func build(
        configuration: ServiceConfiguration, extensions: ServiceExtensions = ServiceExtensions(), telemetry: Telemetry? = nil,
        logger: Logger
    ) throws -> FeedService {
        // A closed log or connection must not end the process.
        signal(SIGPIPE, SIG_IGN)
        // The check includes the needs of serving, because workers start during the composition and would fail without a clear message.
        try FileDescriptors.require(FileDescriptors.ofStores + FileDescriptors.ofServing)
        try ThreadLimit.require(ThreadLimit.ofServing)
        let telemetry = telemetry ?? Telemetry(configuration.log)
        let state = ServiceState()

        // Declarations and databases. A program's own store and ledger have no files here.
        configuration.store.makeDataFolder()
        let declared = try configuration.declarations(extensions)
        let items = try configuration.store.items()
        if configuration.store.room?.release() == true { logger.warning("the disk is full: requests that need no disk space are served") }
        let files = try configuration.storeFiles(extensions)
        for fault in files?.faults ?? [] { logger.warning("data loss is accepted", metadata: ["reason": "\(fault)"]) }
        let ownStore: (any ItemStore)?
        let store: any FeedStore
        if let provided = extensions.store {
            try declared.checkNeedsNoFile()
            (ownStore, store) = (nil, provided)
        } else {
            let own = try items.open(reading: configuration.store.reading)
            (ownStore, store) = (own, own)
        }
        let ownLedger: (any PersistentLedger)?
        let ledger: any Ledger
        if let provided = extensions.ledger {
            (ownLedger, ledger) = (nil, provided)
        } else {
            let opened = try configuration.openLedger(beside: ownStore, now: extensions.clock)
            (ownLedger, ledger) = (opened, opened)
        }
        // Replicas decide by the clock of their database.
        let clock: @Sendable () -> Int64 = extensions.clock ?? ownLedger?.now ?? WallClock.now
        if ownStore != nil || ownLedger != nil { configuration.store.room?.reserve() }
        let archive: (any LedgerArchive)? = ownLedger ?? (extensions.ledger as? any LedgerArchive)
        // The keys come after the stores, whose error about a missing folder is clearer.
        let ring = try configuration.keyRing()
        let keys = ring.keys
        let (registry, kinds, kindsText, declaredFeeds) = (declared.registry, declared.kinds, declared.kindsText, declared.file.feeds)
        let plans = declaredFeeds.plans
        let declaredLanguages = declared.file.languages
        let streams = try ownStore?.streams(plans) ?? [DeclaredFeeds.mainName: .content]

        // Parts that live as long as the process.
        let images = try ImageProxy(
            configuration.images, signer: configuration.images.signer(keys), folder: configuration.store.path(of: "images"),
            store: ownStore, clock: clock, logger: logger)
        let polling = ownStore.map { store in
            SourcePoller(
                declared.sources, policy: configuration.sources.policy, into: store, at: items, now: clock, logger: logger)
        }
        let pageMetrics = PageMetrics(registry: telemetry.registry)
        let limits = configuration.server.limits
        let writes = WriteLimiter(address: limits.writesPerAddress, viewer: limits.writesPerViewer)
        let playgroundRequests = WriteLimiter(
            address: PlaygroundRoutes.requestsPerMinute, viewer: PlaygroundRoutes.requestsPerMinute)
        // A separate limiter, because many viewers of one address receive pages.
        let decisions = WriteLimiter(address: limits.decisionsPerAddress, viewer: limits.writesPerViewer)
        let delivery = AdServer(
            ledger: ledger as? any CampaignLedger, process: ProcessName.make(),
            lifetime: configuration.campaigns.reservationTimeout.milliseconds
        ) { facts, now in
            decisions.wait(.decisions, network: facts.network, viewer: facts.viewer, now: now) == nil
        }
        let cellCounters = RenderedCellCache.Counters()

        let listeners = LiveFeeds(
            limit: configuration.server.limits.effectiveEventStreams, store: store, ledger: ledger, clock: clock, logger: logger)

        let registered = ClientRegistry(ownLedger)
        let refusals = WriteRefusals(ledger)
        let forwardingWarning = ForwardingWarning(logger: logger)
        let identities = try configuration.tokenServices(clock: clock, logger: logger)
        let tokenServices: [TokenService] = [identities.viewers, identities.operators].compactMap { $0 }
        let rejections = WriteLimiter(address: limits.rejectedTokensPerAddress, viewer: limits.writesPerViewer)

        // Parts that a new configuration replaces while requests continue: the feeds, the actions of cells and the routes.
        let router = Router([], acceptsOnlyJSON: true, clock: clock, logger: logger)
        let live = try ReloadableApplication(configuration, router: router, control: telemetry.control, logger: logger) { configuration in
            let keys = ring.keys
            let kindsFile = try configuration.kindsFile(of: kindsText, extensions)
            let factories = try configuration.cellFactories(extensions, commands: registry, kinds: kindsFile)
            let links = Links(
                base: configuration.server.publicURL.isEmpty ? nil : configuration.server.publicURL, image: images.links.link,
                media: SampleMediaRoutes.href, known: images.known)
            let tokens = CellTokens(keys: keys, lifetime: configuration.events.tokenLifetime.milliseconds)
            let cells = RenderedCellCache(capacity: configuration.feed.cellCache.bytes(), counters: cellCounters)
            let sources = declaredFeeds.sources(streams: streams, settings: configuration.feed).merging(extensions.dataSources) {
                $1
            }
            let elsewhere = SourceItems(sources.sorted { $0.key < $1.key }.map(\.value))
            try configuration.checkPinnedAds(declaredFeeds)
            let campaignsFile = try configuration.campaignsFile(
                among: declaredFeeds, configuration.creatives(kindsFile, extensions))
            func placement(in feed: String) -> any AdPlacement {
                let declared = declaredFeeds.ads[feed].flatMap { $0 == DeclaredAds() ? nil : configuration.feed.with($0).placement }
                return declared ?? extensions.placement ?? configuration.feed.placement
            }
            let campaigns = Campaigns(
                campaignsFile?.campaigns ?? [], factories: factories, delivery: delivery, memberships: ownStore,
                inventory: CampaignInventory(
                    sources, placement: placement, hasAttributes: configuration.viewers.canHaveAttributes,
                    hasViewers: configuration.viewers.canBeNamed))
            let feeds = FeedCatalogue(sources) { name, title, path, source in
                FeedAssembler(
                    name: name, title: title, path: path, store: store, source: source, factories: factories, cells: cells,
                    placement: placement(in: title), campaigns: campaigns,
                    isFair: configuration.feed.adRotation == .fair, spacing: configuration.feed.adSpacing, elsewhere: elsewhere,
                    keys: keys, links: links, tokens: tokens, logger: logger)
            }
            let performer = ActionPerformer(
                store: store, ledger: ledger, factories: factories, registry: registry, links: links, tokens: tokens,
                undoWindow: configuration.actions.undoWindow.milliseconds, eventsDidCommit: delivery.eventsDidCommit, campaigns: campaigns,
                elsewhere: elsewhere)
            let languages = LanguageReader(declaredLanguages, viewerField: configuration.viewers.languageHeader)
            let clients = ClientReader(
                settings: configuration.events,
                viewers: ViewerReader(
                    configuration.viewers, proxies: configuration.server.proxies, tokens: identities.viewers?.verifier,
                    rejections: rejections),
                proxies: configuration.server.proxies,
                forwardingWarning: forwardingWarning, keys: keys, languages: languages, registry: registered, cells: factories.cells)
            let idempotency = IdempotencyKeys(clients: clients, keys: keys)
            let pages = PageCache(
                capacity: configuration.feed.pageCache.bytes, maxStaleness: configuration.feed.maxStaleness.milliseconds,
                metrics: pageMetrics,
                isUnchanged: { store.isValid($0, from: $1, to: $2) }, imageMetadata: images.known)
            let format = PageFormat(
                viewerFields: configuration.viewers.varyingFields, languages: languages,
                maxAge: configuration.feed.maxAge.milliseconds / 1_000)
            let facts = TargetingContextReader(
                attributesField: configuration.viewers.attributesHeader, window: configuration.campaigns.reservationTimeout.milliseconds,
                clients: clients)
            let feed = FeedRoutes(
                feeds: feeds, campaigns: campaigns, campaignFacts: facts, store: store, ledger: ledger, clients: clients, pages: pages,
                shared: PageLoader(store: store, pages: pages, format: format, metrics: pageMetrics, imagePrefetcher: images.prefetcher),
                format: format, metrics: pageMetrics,
                catalogue: FeedListing(in: languages) { language in
                    feeds.listed(titles: declaredFeeds.titles, in: language, layouts: factories.layouts, links: links)
                }, live: listeners)
            let lists = ViewerListRoutes(extensions.lists, clients: clients, format: format) { list, path in
                ViewerListAssembler(
                    list: list, path: path, store: store, ledger: ledger, factories: factories, keys: keys, links: links, tokens: tokens,
                    campaigns: campaigns, elsewhere: elsewhere)
            }
            let clicks = ClickRoutes(
                performer: performer, clients: clients, redirects: RedirectCache(reportsVerdict: configuration.events.reportsVerdict))
            let limited = LimitedRoutes(limiter: writes, clients: clients, refusals: refusals)
            let actions = CellRoutes(
                performer: performer, clients: clients, keys: idempotency, reportsVerdict: configuration.events.reportsVerdict,
                viewerDidChange: { listeners.viewerDidChange($0) })
            let challenging = { (routes: [Route]) in identities.viewers == nil ? routes : routes.map { $0.challenging() } }
            let playground = LimitedRoutes(limiter: playgroundRequests, clients: clients, refusals: refusals).limiting(
                PlaygroundRoutes(
                    registry: registry, policy: configuration.actions.onFailure, hasViewers: configuration.cells.hasViewers
                ).routes, as: .playground)
            let api =
                feed.routes + challenging(lists.routes) + limited.limiting(ClientRoutes(registry: registered).routes, as: .clients)
                + challenging(limited.limiting(actions.routes, as: .actions)).map { $0.describing(registry) } + clicks.routes
                + limited.limiting(EventRoutes(performer: performer, clients: clients, keys: idempotency).routes, as: .events)
                + images.routes(clients)
                + HealthRoutes(store: store, ledger: ledger, state: state, tag: "Operations").routes
            let description = APIDescription(
                of: api, kinds: kinds, viewerHeader: configuration.viewers.header, publicURL: configuration.server.publicURL)
            let viewer =
                configuration.webClient.isEnabled ? WebClient.routes(viewerHeader: configuration.viewers.header) + playground : []
            let routes = api + description.routes + viewer + SampleMediaRoutes().routes
            let parts = RouteContext.Parts(
                store: store, ledger: ledger, links: links, clock: clock, logger: logger, clients: clients)
            let added = extensions.routes.map { $0.route(in: parts) }
            if let error = ConfigurationError(extensions.listErrors + Route.errors(in: added, beside: routes)) { throw error }
            return Application(
                routes: routes + added, feeds: feeds, campaigns: campaigns, campaignsFile: campaignsFile, pages: pages, cells: cells,
                factories: factories, privacy: AddressPrivacy(mode: configuration.events.address, keys: keys),
                trackerCalls: TrackerCalls(keys: keys))
        } check: { composition in
            if let file = composition.campaignsFile {
                let findings = try await composition.campaigns.findings(in: store, ledger as? any CampaignLedger)
                if let error = file.errors(findings) { throw error }
                for (campaign, creative) in findings.gone {
                    logger.warning(
                        "an ad of a campaign is missing", metadata: ["campaign": "\(campaign)", "creative": "\(creative)"])
                }
            }
            let now = clock()
            if let campaignIndex = try await composition.campaigns.campaignIndex(of: store) {
                try await composition.campaigns.remember()
                try await store.read(for: .background) { _ in try delivery.begin(campaignIndex, now: now) }
            }
            // The composition is active from here on.
            listeners.serve(composition.feeds)
            try await images.takedowns.serve(composition.campaigns)
        }

        let tracked: (any TrackerLedger)? = ownLedger ?? (extensions.ledger as? any TrackerLedger)
        let trackers = tracked.map { ledger in
            TrackerDispatcher(
                ledger: ledger,
                sources: [
                    AdTrackers(store: store, factories: { live.current.factories }),
                    CampaignTrackers(store: store, campaigns: { live.current.campaigns }),
                ], calls: { live.current.trackerCalls }, policy: configuration.images.trackerPolicy, settings: configuration.trackers,
                now: clock, logger: logger)
        }

        // Logs, metrics and the admin API.
        let accessLog = AccessLog(
            control: telemetry.control, sink: telemetry.sink, now: extensions.clock ?? WallClock.coarse,
            anonymize: { live.current.privacy.storedForm(of: $0, now: $1) })
        let checkedFiles = [("items", ownStore as? any CheckedFile), ("ledger", ownLedger as? any CheckedFile)]
            .compactMap { name, file in file.map { (name: name, file: $0) } }
        let samples = ServiceSamples(
            live: live, cellCounters: cellCounters, store: ownStore, ledger: ownLedger, polling: polling, trackers: trackers?.metrics,
            imageManager: images.manager,
            accessLog: accessLog, sink: telemetry.sink, listeners: listeners, checkedFiles: checkedFiles,
            tokens: tokenServices, clock: clock, keyCreation: ring.creation)
        let administration =
            HealthRoutes(store: store, ledger: ledger, state: state, tag: "Health").routes
            + MetricsRoutes(registry: telemetry.registry, samples: samples.read).routes
            + OperatorRoutes(
                store: ownStore, location: items, kinds: kinds, described: extensions.kinds, settings: configuration.admin,
                archive: archive,
                prefixes: declared.file.advertisementPrefixes,
                reportQuery: {
                    guard let ledger = ledger as? any CampaignLedger else { return [:] }
                    return try await live.current.campaigns.figures(in: store, ledger, now: clock())
                }, images: images.manager, polling: polling,
                owners: { IdempotencyKeys.owners(of: $0, ring.keys) },
                onErasure: { listeners.viewerDidChange($0) }
            ).routes
            + ExplainRoutes(
                feeds: { live.current.feeds }, kinds: kinds, window: configuration.campaigns.reservationTimeout.milliseconds, ledger: ledger
            ).routes
            + CampaignRoutes(campaigns: { live.current.campaigns }, store: store).routes
        let operatorPages = configuration.webClient.isEnabled ? WebClient.operatorRoutes() : []
        let problemPages = OperatorDescription.problemPages(describing: administration)
        let described = administration + [problemPages.route]
        let operatorRoutes = described + [OperatorDescription.route(describing: described)] + operatorPages
        let counted = configuration.metrics.isEnabled ? telemetry.registry : nil
        let patterns = (live.current.routes + operatorRoutes).map(\.pattern)
        let observer = { (listener: String, onRefusal: @escaping @Sendable (RefusedRequest) -> Void) in
            ServiceObserver(listener: listener, routes: patterns, registry: counted, log: accessLog, onRefusal: onRefusal)
        }

        // The listeners, from the innermost handler outwards.
        var publicHandler: any HTTPHandler = CORSMiddleware(
            policy: configuration.crossOrigin.policy, publicURL: { live.configuration.server.publicURL },
            viewerFields: { live.configuration.viewers.fields }, next: router)
        for middleware in extensions.middleware.reversed() {
            publicHandler = MiddlewareHandler(middleware: middleware, router: router, next: publicHandler)
        }
        var servers: [(name: String, server: HTTPServer)] = [
            (
                "service",
                try HTTPServer(configuration: configuration.publicServer, handler: publicHandler, observer: observer("service") { _ in })
            )
        ]
        var operatorHandler: (any HTTPHandler)?
        let audit = configuration.admin.isEnabled ? try AuditLog(path: configuration.auditLog) : nil
        if let audit {
            let handler = AdminAuthMiddleware(
                guarding: OperatorGuard(
                    configuration.admin, tokens: identities.operators?.verifier,
                    open: HealthRoutes.paths.union(WebClient.operatorPaths).union(problemPages.paths), logger: logger),
                next: Router(operatorRoutes, clock: clock, logger: logger), audit: audit, clock: clock, logger: logger)
            operatorHandler = handler
            servers.append(
                (
                    "admin",
                    try HTTPServer(
                        configuration: configuration.adminServer, handler: handler, observer: observer("admin", handler.record))
                ))
        }

        // Background services.
        let advance: @Sendable () -> Void = {
            guard let files, let items = ownStore as? SQLiteStore, let events = ownLedger as? SQLiteLedger else { return }
            do {
                try files.files.advance(items, events, key: configuration.signing.key.isEmpty ? keys.current.name : nil)
            } catch {
                logger.notice("the identity of the database files was not updated", metadata: ["error": "\(error)"])
            }
        }
        let prepare: @Sendable () throws -> Void = {
            advance()
            (ownLedger as? SQLiteLedger)?.guardLog()
            (ownStore as? SQLiteStore)?.guardLog()
            guard let ownStore else { return }
            let arranged = try ownStore.arrange(plans) { logger.notice("assigning the items of the store to the configured sections") }
            guard streams.allSatisfy({ arranged[$0.key] == $0.value }) else {
                throw StoreError.unavailable("another process has just assigned the items of the store to other sections")
            }
        }
        var checks: [@Sendable () -> FileChange?] = []
        if let ownStore { checks.append { ownStore.checkForReplacement() } }
        if let ownLedger { checks.append { ownLedger.checkForReplacement() } }
        var background: [any ServiceLifecycle.Service] = [
            DatabaseWatch(checks, prepare: prepare, logger: logger), DatabaseCheck(files: checkedFiles.map(\.file)), listeners,
            CampaignQuotaSync(delivery: delivery, now: clock, logger: logger),
        ]
        background += tokenServices
        if let ownStore {
            background.append(TakedownMonitor(store: ownStore, live: live, images: images.takedowns, now: clock, logger: logger))
        }
        if let archive {
            background.append(
                LedgerRetention(archive: archive, retention: { live.configuration.ledger.retention }, now: clock, logger: logger))
            background.append(LedgerTotals(archive: archive, logger: logger))
        }
        if let trackers { background.append(trackers) }
        if ring.mayChange {
            background.append(
                KeyRefresher(
                    ring: ring,
                    changed: { keys in
                        images.useKeys(keys)
                        try await live.renew()
                        accessLog.forgetAddresses()
                    }, logger: logger))
        }
        if let polling {
            background.append(
                polling.recorded { name, outcome in
                    try await audit?.record(who: "source:\(name)", method: "sync", path: name, now: clock) { $0.record(outcome) }
                })
        }
        return FeedService(
            live: live, servers: servers, state: state, drain: configuration.server.shutdownDelay,
            grace: configuration.server.shutdownTimeout,
            loadKeys: { () throws(ConfigurationError) in for service in tokenServices { try await service.load() } },
            prepare: prepare, background: background,
            close: {
                for service in tokenServices { await service.close() }
                await images.shutDown()
                await audit?.close()
                advance()
                // All writers have ended. Each database becomes one complete file, so that it can be copied.
                do {
                    try await ownLedger?.complete()
                    try await ownStore?.completeFile()
                } catch {
                    logger.notice("a database keeps its -wal file, which has commits", metadata: ["error": "\(error)"])
                }
                telemetry.sink.flush()
            }, logger: logger, operatorRoutes: operatorRoutes, publicHandler: publicHandler, operatorHandler: operatorHandler)
    }
}
