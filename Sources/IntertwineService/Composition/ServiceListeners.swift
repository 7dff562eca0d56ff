internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineStorage

struct ServiceListeners: Sendable {
    let servers: [(name: String, server: HTTPServer)]
    let publicHandler: any HTTPHandler
    let operatorHandler: (any HTTPHandler)?
    let operatorRoutes: [Route]
    let accessLog: AccessLog
    let audit: AuditLog?
    let trackers: TrackerDispatcher
}

extension ServiceBuilder {
    func makeListeners(
        _ live: ReloadableApplication, _ router: Router, _ stores: OpenStores, _ parts: ProcessParts
    ) throws -> ServiceListeners {
        let trackers = TrackerDispatcher(
            ledger: stores.ledger,
            sources: [
                AdTrackers(store: stores.store, factories: { live.current.factories }),
                CampaignTrackers(store: stores.store, campaigns: { live.current.campaigns }),
            ], calls: { live.current.trackerCalls }, policy: configuration.images.trackerPolicy, settings: configuration.trackers,
            userAgent: configuration.server.userAgent, now: stores.clock, logger: logger)
        let accessLog = AccessLog(
            control: telemetry.control, sink: telemetry.sink, now: extensions.clock ?? WallClock.coarse,
            anonymize: { live.current.privacy.storedForm(of: $0, now: $1) })
        let samples = ServiceSamples(
            live: live, cellCounters: parts.cellCounters, store: stores.store, ledger: stores.ledger, polling: parts.polling,
            trackers: trackers.metrics, campaigns: parts.campaignMetrics, delivery: parts.delivery, imageManager: parts.images.manager,
            accessLog: accessLog, sink: telemetry.sink,
            listeners: parts.subscribers, servedFiles: stores.servedFiles, tokens: parts.tokenServices, rateLimits: parts.rateLimits,
            clock: stores.clock,
            keyCreation: stores.ring.creation)
        let administration = administrationRoutes(live, stores, parts, samples)
        let operatorRoutes =
            administration + [OperatorDescription.route(describing: administration)]
            // The console shows pictures of items.
            + (configuration.webClient.isEnabled
                ? OperatorPageRoutes().routes + parts.images.routes(isForOperators: true).filter { $0.method == .get } : [])
        let counted = configuration.metrics.isEnabled ? telemetry.registry : nil
        let patterns = (live.current.routes + operatorRoutes).map(\.pattern)
        let observer = { (listener: String, onRefusal: @escaping @Sendable (RefusedRequest) -> Void) in
            ServiceObserver(listener: listener, routes: patterns, registry: counted, log: accessLog, onRefusal: onRefusal)
        }

        // The public handlers, from the innermost outwards.
        var publicHandler: any HTTPHandler = CORSMiddleware(
            policy: configuration.crossOrigin.policy, publicURL: { live.configuration.server.publicURL },
            viewerFields: { live.configuration.viewers.fields }, next: router)
        for middleware in extensions.middleware.reversed() {
            publicHandler = MiddlewareHandler(middleware: middleware, router: router, next: publicHandler)
        }
        var servers = [
            (
                name: "service",
                server: HTTPServer(
                    configuration: configuration.publicServer, handler: publicHandler, observer: observer("service") { _ in })
            )
        ]
        var operatorHandler: (any HTTPHandler)?
        let audit = configuration.admin.isEnabled ? try AuditLog(path: configuration.auditLog) : nil
        if let audit {
            let handler = AdminAuthMiddleware(
                guarding: OperatorGuard(
                    configuration.admin, tokens: parts.operatorTokens?.verifier,
                    open: HealthRoutes.paths.union(OperatorPageRoutes.paths), logger: logger),
                next: Router(operatorRoutes, clock: stores.clock, logger: logger), audit: audit, clock: stores.clock, logger: logger)
            operatorHandler = handler
            servers.append(
                (
                    "admin",
                    HTTPServer(
                        configuration: configuration.adminServer, handler: handler, observer: observer("admin", handler.record))
                ))
        }
        return ServiceListeners(
            servers: servers, publicHandler: publicHandler, operatorHandler: operatorHandler, operatorRoutes: operatorRoutes,
            accessLog: accessLog, audit: audit, trackers: trackers)
    }

    private func administrationRoutes(
        _ live: ReloadableApplication, _ stores: OpenStores, _ parts: ProcessParts, _ samples: ServiceSamples
    ) -> [Route] {
        let (store, kinds, archive) = (stores.store, stores.declared.kinds, stores.ledger)
        let items: [[Route]] = [
            ItemRoutes(store: store, kinds: kinds, described: extensions.kinds).routes,
            ItemListRoutes(store: store, kinds: kinds, links: parts.images.links).routes, KindRoutes(kinds: kinds).routes,
            TakedownRoutes(store: store, kinds: kinds).routes, OperationRoutes(store: store, kinds: kinds).routes,
            ImportRoutes(location: stores.location, kinds: kinds, settings: configuration.admin).routes,
            PatchRoutes(store: store, kinds: kinds, settings: configuration.admin).routes,
            PurgeRoutes(manager: parts.images.manager).routes,
        ]
        let events: [[Route]] = [
            ReportRoutes(
                archive: archive, prefixes: stores.declared.advertisementPrefixes,
                figures: { try await live.current.campaigns.figures(in: store, stores.ledger, now: stores.clock()) },
                ownDays: { try await live.current.campaigns.report(byOwnDays: $0, of: stores.ledger, in: store) }
            ).routes,
            LedgerEventRoutes(archive: archive, isStopping: { parts.state.isDraining }).routes,
            ViewerErasureRoutes(
                archive: archive, owners: { IdempotencyKeys.owners(of: $0, stores.ring.keys) },
                erased: { viewer in
                    live.current.feeds.forgetRankings(of: viewer)
                    parts.subscribers.viewerDidChange(viewer)
                }
            ).routes,
            EventVoidRoutes(archive: archive, addresses: { live.current.privacy }).routes,
        ]
        return HealthRoutes(store: store, ledger: stores.ledger, state: parts.state, tag: "Health").routes
            + MetricsRoutes(registry: telemetry.registry, samples: samples.read).routes
            + (items + events).flatMap { $0 } + SourceRoutes(polling: parts.polling).routes
            + ExplainRoutes(
                feeds: { live.current.feeds }, kinds: stores.declared.kinds, ledger: stores.ledger,
                campaigns: { live.current.campaigns }
            ).routes
            + PreviewRoutes(
                feeds: { live.current.feeds }, ledger: stores.ledger, items: ItemRoutes(store: stores.store, kinds: stores.declared.kinds),
                factories: { live.current.factories }, links: Links(image: parts.images.links.link, known: parts.images.known),
                languages: stores.declared.languages, hasViewers: configuration.cells.hasViewers
            ).routes
            + ConsoleRoutes(auditLog: configuration.auditLog, polling: parts.polling, settings: { live.configuration.rows.bySection })
            .routes
            + CampaignRoutes(campaigns: { live.current.campaigns }, store: stores.store).routes
    }
}
