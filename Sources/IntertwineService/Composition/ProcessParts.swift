internal import IntertwineFeed
internal import IntertwinePrimitives
internal import IntertwineStorage

struct ProcessParts: Sendable {
    let state = ServiceState()
    let images: ImageProxy
    let schedules: ScheduleMonitor
    let polling: SourcePoller
    let rankers: RankerClient
    let pageMetrics: PageMetrics
    let cellCounters = RenderedCellCache.Counters()
    let writes: WriteLimiter
    let rejections: WriteLimiter
    let playgroundRequests = WriteLimiter(
        address: PlaygroundRoutes.requestsPerMinute, viewer: PlaygroundRoutes.requestsPerMinute)
    let refusals: WriteRefusals
    let delivery: AdServer
    let campaignMetrics = CampaignMetrics()
    let subscribers: LiveFeeds
    let clients: ClientRegistry
    let forwardingWarning: ForwardingWarning
    let viewerTokens: TokenService?
    let operatorTokens: TokenService?

    var rateLimits: [(name: String, limiter: WriteLimiter)] {
        [("writes", writes), ("rejected-tokens", rejections), ("playground", playgroundRequests)]
    }

    var tokenServices: [TokenService] { [viewerTokens, operatorTokens].compactMap { $0 } }
}

extension ServiceBuilder {
    func makeProcessParts(_ stores: OpenStores) throws -> ProcessParts {
        let limits = configuration.server.limits
        let clock = stores.clock
        let tokens = try configuration.tokenServices(clock: clock, logger: logger)
        // It starts an event loop, so nothing after it may fail.
        let images = try ImageProxy(
            configuration.images, signer: configuration.images.signer(stores.ring.keys), folder: configuration.store.path(of: "images"),
            userAgent: configuration.server.userAgent, store: stores.store, clock: clock, logger: logger)
        let polling = SourcePoller(
            stores.declared.sources, policy: configuration.sources.policy, userAgent: configuration.server.userAgent, into: stores.store,
            at: stores.location, now: clock, logger: logger)
        return ProcessParts(
            images: images,
            schedules: ScheduleMonitor(store: stores.store, images: images.takedowns, clock: clock, logger: logger), polling: polling,
            rankers: RankerClient(userAgent: configuration.server.userAgent, registry: telemetry.registry, logger: logger),
            pageMetrics: PageMetrics(registry: telemetry.registry),
            writes: WriteLimiter(address: limits.writesPerAddress, viewer: limits.writesPerViewer),
            rejections: WriteLimiter(address: limits.rejectedTokensPerAddress, viewer: limits.writesPerViewer),
            refusals: WriteRefusals(stores.ledger), delivery: AdServer(ledger: stores.ledger),
            subscribers: LiveFeeds(
                limit: limits.effectiveEventStreams, store: stores.store, ledger: stores.ledger, clock: clock, logger: logger),
            clients: ClientRegistry(stores.ledger), forwardingWarning: ForwardingWarning(logger: logger), viewerTokens: tokens.viewers,
            operatorTokens: tokens.operators)
    }
}
