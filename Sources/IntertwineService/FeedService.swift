internal import Foundation
internal import IntertwineFeed
package import IntertwineHTTPServer
internal import IntertwineObservability
internal import IntertwinePrimitives
internal import IntertwineRouting
internal import IntertwineStorage
public import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// The whole service, composed by hand from a configuration.
public struct FeedService: Sendable {
    /// The product's version (semver.org), as `intertwine --version` and `intertwine_build_info` tell it.
    public static let version = "0.1.0"

    private let configuration: ServiceConfiguration
    private let parts: ServiceParts
    private let live: LiveComposition
    private let servers: [(name: String, server: HTTPServer)]
    /// Nil without an operators' listener.
    private let audit: AuditLog?
    private let logger: Logger
    /// The routes of the operators' listener.
    let operatorRoutes: [Route]
    /// What answers on the public listener, for tests that ask it without a socket.
    package let publicHandler: any HTTPHandler
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
        // Whoever reads the log or an answer may go; serving goes on.
        signal(SIGPIPE, SIG_IGN)
        try FileDescriptors.require(FileDescriptors.ofStores, later: FileDescriptors.ofServing)
        let telemetry = telemetry ?? Telemetry(configuration.log)
        let parts = try ServiceParts(configuration: configuration, extensions: extensions, telemetry: telemetry, logger: logger)
        let live = try LiveComposition(configuration, parts: parts)
        let accessLog = AccessLog(
            control: telemetry.control, sink: telemetry.sink, now: WallClock.coarse,
            kept: AddressPrivacy(mode: configuration.events.address, keys: parts.keys).kept(of:now:))
        let administration =
            HealthRoutes(store: parts.store, ledger: parts.ledger, state: parts.state, tag: "Health").routes
            + MetricsRoutes(registry: telemetry.registry, samples: ServiceSamples(parts: parts, live: live, accessLog: accessLog)).routes
            + OperatorRoutes(
                parts: parts, live: live, settings: configuration.admin, database: configuration.store.database
            ).routes
        let operatorRoutes = administration + [OperatorDescription.route(describing: administration)]
        let counted = configuration.metrics.enabled ? telemetry.registry : nil
        let requests = counted.map { registry in
            RequestMetrics(registry: registry, routes: (live.current.routes + operatorRoutes).map(\.pattern))
        }
        let observer = { (listener: String) in
            ServiceObserver(
                requests: requests, connections: counted.map { ConnectionMetrics(registry: $0, listener: listener) }, log: accessLog)
        }
        let publicHandler = Self.publicHandler(live, configuration, parts)
        var servers = [
            ("service", try HTTPServer(configuration: configuration.publicServer, handler: publicHandler, observer: observer("service")))
        ]
        let audit = configuration.admin.isServed ? try AuditLog(path: configuration.auditLog) : nil
        if let audit {
            let handler = GuardedHandler(
                access: OperatorAccess(token: configuration.admin.token),
                router: Router(operatorRoutes, clock: parts.clock, logger: logger), audit: audit, clock: parts.clock, logger: logger)
            servers.append(
                ("admin", try HTTPServer(configuration: configuration.adminServer, handler: handler, observer: observer("admin"))))
        }
        return FeedService(
            configuration: configuration, parts: parts, live: live, servers: servers, audit: audit, logger: logger,
            operatorRoutes: operatorRoutes, publicHandler: publicHandler)
    }

    private static func publicHandler(
        _ live: LiveComposition, _ configuration: ServiceConfiguration, _ parts: ServiceParts
    ) -> any HTTPHandler {
        let router = Router({ live.table }, clock: parts.clock, logger: parts.logger)
        let handler: any HTTPHandler =
            configuration.crossOrigin.policy.map { policy in
                CrossOriginHandler(policy: policy, viewerHeader: { live.configuration.events.viewerHeader }, router: router)
            } ?? router
        guard !parts.extensions.middleware.isEmpty else { return handler }
        return MiddlewareHandler(middleware: parts.extensions.middleware, handler: handler, logger: parts.logger)
    }

    /// Serves until the process is told to stop by SIGTERM or SIGINT, then finishes what is under way.
    ///
    /// - Parameters:
    ///   - reloading: where the configuration comes from; read again on SIGHUP and when its file changes. Nil for never.
    ///   - started: called once with the address of each listener, by name.
    /// - Throws: where an address cannot be listened on, or the store not laid out.
    public func run(
        reloading: ConfigurationSource? = nil, started: @escaping @Sendable ([String: String]) -> Void = { _ in }
    ) async throws {
        try FileDescriptors.require(FileDescriptors.ofServing)
        // Heeded before anything is answered: whoever has had an answer may tell the process to stop.
        let signals = await UnixSignalsSequence(trapping: reloading == nil ? [.sigterm, .sigint] : [.sigterm, .sigint, .sighup])
        let (hangUps, hangUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let listeners = try await Listeners(
            servers: servers, state: parts.state, drain: configuration.server.drain, grace: configuration.server.grace,
            prepare: parts.arrange, started: started)
        let retention = LedgerRetention(
            archive: parts.ledger, retention: { live.configuration.ledger.retention }, now: parts.clock, logger: logger)
        let (store, ledger) = (parts.store, parts.ledger)
        let watch = DatabaseWatch([{ store.look() }, { ledger.look() }], prepare: parts.arrange, logger: logger)
        var services: [any ServiceLifecycle.Service] = [watch, retention, parts.sources.recorded(in: audit), listeners]
        if let reloading { services.insert(ConfigurationReloader(source: reloading, hangUps: hangUps, live: live, logger: logger), at: 0) }
        let group = ServiceGroup(configuration: .init(services: services, logger: logger))
        let heeding = Task {
            for await signal in signals {
                if signal == .sighup { hangUp.yield() } else { await group.triggerGracefulShutdown() }
            }
        }
        defer { heeding.cancel() }
        let end: Result<Void, any Error>
        do {
            end = .success(try await group.run())
        } catch {
            end = .failure(error)
        }
        await parts.pictures.shutDown()
        await audit?.close()
        await completeFiles()
        parts.telemetry.sink.flush()
        try end.get()
    }

    /// Nothing writes any more: each database is to be one whole file, for whoever copies it.
    private func completeFiles() async {
        do {
            try await parts.ledger.completeFile()
            try await parts.store.completeFile()
        } catch {
            logger.notice("a database keeps its -wal file, which belongs to it", metadata: ["error": "\(error)"])
        }
    }
}
