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
    private let parts: ServiceParts
    private let live: LiveComposition
    private let servers: [(name: String, server: HTTPServer)]
    private let logger: Logger
    /// The routes of the operators' listener.
    let operatorRoutes: [Route]
    /// The routes of the public listener.
    var publicRoutes: [Route] { live.current.routes }

    /// - Parameters:
    ///   - extensions: kinds of item, cells and commands besides those that the product comes with.
    ///   - telemetry: one of its own where nil.
    /// - Throws: ``ConfigurationError`` or `StoreError`, each one line for the person who starts it.
    public static func build(
        configuration: ServiceConfiguration, extensions: ServiceExtensions = ServiceExtensions(), telemetry: Telemetry? = nil,
        logger: Logger
    ) throws -> FeedService {
        let telemetry = telemetry ?? Telemetry(configuration.log)
        let parts = try ServiceParts(configuration: configuration, extensions: extensions, telemetry: telemetry, logger: logger)
        let live = try LiveComposition(configuration, parts: parts)
        let accessLog = AccessLog(
            control: telemetry.control, sink: telemetry.sink,
            privacy: AddressPrivacy(mode: configuration.events.address, keys: parts.keys), now: WallClock.coarse)
        let operatorRoutes =
            HealthRoutes(store: parts.store, ledger: parts.ledger, state: parts.state).routes
            + MetricsRoutes(registry: telemetry.registry, samples: ServiceSamples(parts: parts, live: live, accessLog: accessLog)).routes
            + OperatorRoutes(
                parts: parts, live: live, settings: configuration.admin, database: configuration.store.database
            ).routes + [DescriptionRoutes.ofOperators]
        let counted = configuration.metrics.enabled ? telemetry.registry : nil
        let requests = counted.map { registry in
            RequestMetrics(registry: registry, routes: (live.current.routes + operatorRoutes).map(\.pattern))
        }
        let observer = { (listener: String) in
            ServiceObserver(
                requests: requests, connections: counted.map { ConnectionMetrics(registry: $0, listener: listener) }, log: accessLog)
        }
        let publicServer = try HTTPServer(
            configuration: configuration.publicServer, handler: Self.publicHandler(live, configuration, parts),
            observer: observer("service"))
        let adminServer = try HTTPServer(
            configuration: configuration.adminServer,
            handler: GuardedHandler(
                access: OperatorAccess(token: configuration.admin.token),
                router: Router(operatorRoutes, clock: parts.clock, logger: logger),
                audit: try AuditLog(path: configuration.store.path(of: "audit.log")), clock: parts.clock, logger: logger),
            observer: observer("admin"))
        return FeedService(
            configuration: configuration, parts: parts, live: live, servers: [("service", publicServer), ("admin", adminServer)],
            logger: logger, operatorRoutes: operatorRoutes)
    }

    private static func publicHandler(
        _ live: LiveComposition, _ configuration: ServiceConfiguration, _ parts: ServiceParts
    ) -> any HTTPHandler {
        let router = Router(live.table, clock: parts.clock, logger: parts.logger)
        guard let policy = CrossOriginPolicy(configuration.crossOrigin) else { return router }
        return CrossOriginHandler(policy: policy, viewerHeader: { live.configuration.events.viewerHeader }, router: router)
    }

    /// Serves until the process is told to stop by SIGTERM or SIGINT, then finishes what is under way.
    ///
    /// - Parameters:
    ///   - reloading: where the configuration comes from; read again on SIGHUP and when its file changes. Nil for never.
    ///   - started: called once with the address of each listener, by name.
    /// - Throws: where an address cannot be listened on.
    public func run(
        reloading: ConfigurationSource? = nil, started: @escaping @Sendable ([String: String]) -> Void = { _ in }
    ) async throws {
        let listeners = Listeners(servers: servers, state: parts.state, grace: configuration.server.grace, started: started)
        let retention = LedgerRetention(
            archive: parts.ledger, retention: { live.configuration.ledger.retention }, now: parts.clock, logger: logger)
        var services: [any ServiceLifecycle.Service] = [retention, parts.sources, listeners]
        if let reloading { services.insert(ConfigurationReloader(source: reloading, live: live, logger: logger), at: 0) }
        let group = ServiceGroup(
            configuration: .init(services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await group.run()
        await parts.pictures.shutDown()
        parts.telemetry.sink.flush()
    }
}
