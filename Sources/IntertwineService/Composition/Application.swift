internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

struct Application: Sendable {
    let routes: [Route]
    let feeds: FeedCatalogue
    let campaigns: Campaigns
    let campaignsFile: CampaignsFile?
    let pages: PageCache
    let cells: RenderedCellCache
    let factories: CellFactories
    let privacy: AddressPrivacy
    let trackerCalls: TrackerCalls
}

extension ServiceBuilder {
    private struct Feeds {
        let catalogue: FeedCatalogue
        let campaigns: Campaigns
        let campaignsFile: CampaignsFile?
        let factories: CellFactories
        let cells: RenderedCellCache
        let links: Links
        let tokens: CellTokens
        let sourceItems: SourceItems
        let keys: SigningKeys
    }

    func makeApplication(_ configuration: ServiceConfiguration, _ stores: OpenStores, _ parts: ProcessParts) throws -> Application {
        let feeds = try makeFeeds(configuration, stores, parts)
        let languages = LanguageReader(stores.declared.languages, viewerField: configuration.viewers.languageHeader)
        let clients = ClientReader(
            settings: configuration.events, robots: try configuration.robotNames(),
            viewers: ViewerReader(
                configuration.viewers, proxies: configuration.server.proxies,
                hosts: HostNames(publicURL: configuration.server.publicURL, host: configuration.server.host),
                tokens: parts.viewerTokens?.verifier,
                rejections: parts.rejections),
            proxies: configuration.server.proxies, forwardingWarning: parts.forwardingWarning, keys: feeds.keys, languages: languages,
            registry: parts.clients, cells: feeds.factories.cells, attributesField: configuration.viewers.attributesHeader)
        let pages = PageCache(
            capacity: configuration.feed.pageCacheBytes, maxStaleness: configuration.feed.maxStaleness.milliseconds,
            metrics: parts.pageMetrics, isUnchanged: { [store = stores.store] in store.isValid($0, from: $1, to: $2) },
            imageMetadata: parts.images.known)
        let api = apiRoutes(configuration, stores, parts, feeds, clients, pages)
        let description = APIDescription(
            of: api, kinds: stores.declared.kinds, viewerHeader: configuration.viewers.header, publicURL: configuration.server.publicURL)
        let playground = LimitedRoutes(limiter: parts.playgroundRequests, clients: clients, refusals: parts.refusals).limiting(
            PlaygroundRoutes(
                registry: stores.declared.registry, policy: configuration.actions.onFailure, hasViewers: configuration.cells.hasViewers
            ).routes, as: .playground)
        let viewer =
            configuration.webClient.isEnabled
            ? WebClientRoutes(
                viewerHeader: configuration.viewers.header, filteredFeeds: feeds.catalogue.filteredFeeds.keys.sorted(),
                operatorPort: configuration.admin.port, documents: configuration.server.documentsURL
            ).routes + playground : []
        let routes = api + description.routes + viewer + SampleMediaRoutes().routes
        let context = RouteContext.Parts(
            store: stores.store, ledger: stores.ledger, links: feeds.links, clock: stores.clock, logger: logger, clients: clients)
        let added = extensions.routes.map { $0.route(in: context) }
        if let error = ConfigurationError(extensions.listErrors + Route.errors(in: added, beside: routes)) { throw error }
        return Application(
            routes: routes + added, feeds: feeds.catalogue, campaigns: feeds.campaigns, campaignsFile: feeds.campaignsFile, pages: pages,
            cells: feeds.cells, factories: feeds.factories, privacy: AddressPrivacy(mode: configuration.events.address, keys: feeds.keys),
            trackerCalls: TrackerCalls(keys: feeds.keys))
    }

    private func makeFeeds(_ configuration: ServiceConfiguration, _ stores: OpenStores, _ parts: ProcessParts) throws -> Feeds {
        let (declared, keys, store) = (stores.declared, stores.ring.keys, stores.store)
        let kindsFile = try configuration.kindsFile(of: declared.kindsText, extensions)
        let factories = try configuration.cellFactories(extensions, commands: declared.registry, kinds: kindsFile)
        let links = Links(
            base: configuration.server.publicURL.isEmpty ? nil : configuration.server.publicURL, image: parts.images.links.link,
            media: SampleMediaRoutes.href, known: parts.images.known)
        let tokens = CellTokens(keys: keys, lifetime: configuration.events.tokenLifetime.milliseconds)
        let cells = RenderedCellCache(capacity: configuration.feed.cellCacheBytes, counters: parts.cellCounters)
        let sources = declared.feeds.sources(streams: stores.streams, settings: configuration.feed).merging(extensions.dataSources) { $1 }
            .mapValues(\.asFeed)
        let sourceItems = SourceItems(sources.sorted { $0.key < $1.key }.map(\.value))
        try configuration.checkPinnedAds(declared.feeds)
        let campaignsFile = try configuration.campaignsFile(kindsFile, extensions)
        if let error = ConfigurationError(extensions.adSourceErrors(beside: campaignsFile?.campaigns ?? [])) { throw error }
        func placement(in feed: String) -> any AdPlacement {
            let own = declared.feeds.ads[feed].flatMap { $0 == DeclaredAds() ? nil : configuration.feed.with($0).placement }
            return own ?? extensions.placement ?? configuration.feed.placement
        }
        let campaigns = Campaigns(
            campaignsFile?.campaigns ?? [], factories: factories, delivery: parts.delivery,
            inventory: CampaignInventory(
                sources, placement: placement, hasAttributes: configuration.viewers.canHaveAttributes,
                hasViewers: configuration.viewers.canBeNamed, countsUnseenClicks: configuration.events.countedClicks == .all,
                filters: declared.feeds.filters),
            sources: Set(extensions.adSources.map(\.name)))
        // Cells of items that depend on the viewer have a bound of their own, so that they evict no cells of others.
        let personalCells = RenderedCellCache(capacity: configuration.feed.cellCacheBytes / 4, counters: parts.cellCounters)
        parts.rankers.use(timeout: configuration.feed.rankerTimeout, requests: configuration.feed.rankerRequests)
        let rankings = declared.feeds.rankers.filter { extensions.dataSources[$0.key] == nil }.reduce(into: [:]) { rankings, ranker in
            rankings[ranker.key] = FeedRanking(of: ranker.key, by: HTTPRanker(at: ranker.value, through: parts.rankers))
        }
        // One for all feeds, so that its limit is that of the service.
        let (newest, decisions) = (NewestItems(), AdDecisions())
        let catalogue = FeedCatalogue(sources, rankings: rankings) { name, title, path, source, ranking in
            let cells = SourceItems([source]).dependOnViewer ? personalCells : cells
            return FeedAssembler(
                name: name, title: title, path: path, store: store, source: source, factories: factories, cells: cells,
                placement: placement(in: title), campaigns: campaigns, adSources: extensions.adSources, decisions: decisions,
                isFair: configuration.feed.adRotation == .fair, spacing: configuration.feed.adSpacing, sourceItems: sourceItems,
                ranking: ranking, filters: declared.feeds.filters[title] ?? [], newest: newest, keys: keys, links: links, tokens: tokens,
                logger: logger)
        }
        return Feeds(
            catalogue: catalogue, campaigns: campaigns, campaignsFile: campaignsFile, factories: factories, cells: cells, links: links,
            tokens: tokens, sourceItems: sourceItems, keys: keys)
    }

    private func apiRoutes(
        _ configuration: ServiceConfiguration, _ stores: OpenStores, _ parts: ProcessParts, _ feeds: Feeds, _ clients: ClientReader,
        _ pages: PageCache
    ) -> [Route] {
        let (store, ledger, languages) = (stores.store, stores.ledger, clients.languages)
        let performer = ActionPerformer(
            store: store, ledger: ledger, factories: feeds.factories, registry: stores.declared.registry, links: feeds.links,
            tokens: feeds.tokens, undoWindow: configuration.actions.undoWindow.milliseconds,
            eventsDidCommit: { [delivery = parts.delivery, metrics = parts.campaignMetrics] events, verdicts in
                delivery.eventsDidCommit(events, verdicts)
                metrics.count(events, verdicts)
            }, campaigns: feeds.campaigns, sourceItems: feeds.sourceItems)
        let format = PageFormat(
            viewerFields: configuration.viewers.varyingFields, languages: languages, maxAge: configuration.feed.maxAge.milliseconds / 1_000,
            schedules: parts.schedules)
        let feed = FeedRoutes(
            feeds: feeds.catalogue, campaigns: feeds.campaigns,
            store: store, ledger: ledger, clients: clients,
            loader: PageLoader(
                store: store, pages: pages, format: format, metrics: parts.pageMetrics, imagePrefetcher: parts.images.prefetcher),
            format: format,
            catalogue: FeedListing(in: languages, filteredFeeds: feeds.catalogue.filteredFeeds) { language, filters in
                feeds.catalogue.listed(
                    titles: stores.declared.feeds.titles, in: language, layouts: feeds.factories.layouts, links: feeds.links,
                    filters: filters)
            }, live: parts.subscribers)
        let declaredLists = feeds.factories.lists.filter { !extensions.lists.contains($0) }
        let lists = ViewerListRoutes(extensions.lists + declaredLists, clients: clients, format: format) { list, path in
            ViewerListAssembler(
                list: list, path: path, store: store, ledger: ledger, factories: feeds.factories, keys: feeds.keys, links: feeds.links,
                tokens: feeds.tokens, sourceItems: feeds.sourceItems)
        }
        let idempotency = IdempotencyKeys(clients: clients, keys: feeds.keys)
        let clicks = ClickRoutes(performer: performer, clients: clients, reportsVerdict: configuration.events.reportsVerdict)
        let actions = CellRoutes(
            performer: performer, clients: clients, keys: idempotency, lists: feeds.factories.lists,
            reportsVerdict: configuration.events.reportsVerdict,
            viewerDidChange: { [parts] in parts.subscribers.viewerDidChange($0) })
        let limited = LimitedRoutes(limiter: parts.writes, clients: clients, refusals: parts.refusals)
        let challenging = { (routes: [Route]) in parts.viewerTokens == nil ? routes : routes.map { $0.challenging() } }
        return feed.routes + challenging(lists.routes) + limited.limiting(ClientRoutes(registry: parts.clients).routes, as: .clients)
            + challenging(limited.limiting(actions.routes, as: .actions)).map { $0.describing(stores.declared.registry) } + clicks.routes
            + limited.limiting(EventRoutes(performer: performer, clients: clients, keys: idempotency).routes, as: .events)
            + parts.images.routes
            + HealthRoutes(store: store, ledger: ledger, state: parts.state, tag: "Operations").routes
    }

    func check(_ application: Application, _ stores: OpenStores, _ parts: ProcessParts) async throws -> @Sendable () -> Void {
        let campaigns = application.campaigns
        if let file = application.campaignsFile {
            let findings = try await campaigns.findings(in: stores.store)
            if let error = file.errors(findings) { throw error }
            for (campaign, creative) in findings.gone {
                logger.warning("an ad of a campaign is missing", metadata: ["campaign": "\(campaign)", "creative": "\(creative)"])
            }
        }
        let takenDown = try await parts.images.takedowns.read(with: campaigns)
        return {
            parts.subscribers.serve(application.feeds)
            parts.images.takedowns.serve(campaigns, takenDown)
        }
    }
}
