internal import Dispatch
internal import Foundation
package import IntertwineHTTPServer
internal import IntertwinePrimitives
public import Logging
public import ServiceLifecycle
internal import UnixSignals

/// The service, composed from a configuration by ``build(configuration:extensions:logger:)``.
public struct FeedService: ServiceLifecycle.Service, Sendable {
    /// The product's version (semver.org), as `intertwine --version` and the metric `intertwine_build_info` report it.
    public static let version = "0.1.0"

    let live: ReloadableApplication
    let stores: OpenStores
    let parts: ProcessParts
    let listeners: ServiceListeners
    let background: [any ServiceLifecycle.Service]
    let telemetry: Telemetry
    let logger: Logger

    package var publicHandler: any HTTPHandler { listeners.publicHandler }
    package var operatorHandler: (any HTTPHandler)? { listeners.operatorHandler }

    package func prepare() throws { try stores.prepare() }

    package func close() async {
        for service in parts.tokenServices { await service.close() }
        await parts.images.shutDown()
        await listeners.audit?.close()
        await stores.close()
        telemetry.sink.flush()
    }

    /// Builds the service and serves, like ``build(configuration:extensions:logger:)`` followed by ``run(reloading:started:)``.
    ///
    /// The addresses are bound first. Therefore a start that cannot bind opens no store, and requests wait while a store is opened.
    ///
    /// ```swift
    /// var configuration = ServiceConfiguration()
    /// configuration.server.port = 8080
    /// try await FeedService.serve(configuration: configuration, logger: Logger(label: "feed")) { addresses in
    ///     print(addresses["service"] ?? "")  // "127.0.0.1:8080"
    /// }
    /// ```
    ///
    /// - Throws: The errors of both methods.
    public static func serve(
        configuration: ServiceConfiguration, extensions: ServiceExtensions = ServiceExtensions(), logger: Logger,
        reloading: ConfigurationSource? = nil, started: @escaping @Sendable ([String: String]) -> Void = { _ in }
    ) async throws {
        try await serve(
            configuration: configuration, extensions: extensions, telemetry: Telemetry(configuration.log), logger: logger,
            reloading: reloading, started: started)
    }

    package static func serve(
        configuration: ServiceConfiguration, extensions: ServiceExtensions = ServiceExtensions(), telemetry: Telemetry,
        logger: Logger, reloading: ConfigurationSource?, started: @escaping @Sendable ([String: String]) -> Void
    ) async throws {
        let sockets = try BoundSockets(configuration)
        let service: FeedService
        do {
            service = try await DispatchQueue.global().perform {
                try build(configuration: configuration, extensions: extensions, telemetry: telemetry, logger: logger)
            }
        } catch {
            sockets.close()
            throw error
        }
        try await service.run(on: sockets, reloading: reloading, started: started)
    }

    /// Serves until SIGTERM or SIGINT, and then completes the requests in progress.
    ///
    /// - Parameters:
    ///   - reloading: The source of the configuration, read again on SIGHUP and after changes of its file; nil to read it never again.
    ///   - started: Called once with the address of each listener by name.
    /// - Throws: An error if an address cannot be bound, or the store cannot be arranged.
    public func run(
        reloading: ConfigurationSource? = nil, started: @escaping @Sendable ([String: String]) -> Void = { _ in }
    ) async throws {
        let sockets: BoundSockets
        do {
            sockets = try BoundSockets(live.configuration)
        } catch {
            await close()
            throw error
        }
        try await run(on: sockets, reloading: reloading, started: started)
    }

    /// Serves like ``run(reloading:started:)``, as a service of a `ServiceGroup`. It also ends when the group shuts down.
    ///
    /// The group needs the behaviour `gracefullyShutdownGroup` for this service, because it ends on SIGTERM and SIGINT.
    public func run() async throws {
        try await run(reloading: nil)
    }

    private func run(
        on sockets: BoundSockets, reloading: ConfigurationSource?, started: @escaping @Sendable ([String: String]) -> Void
    ) async throws {
        let end: Result<Void, any Error>
        do {
            end = .success(try await serve(on: sockets, reloading: reloading, started: started))
        } catch {
            end = .failure(error)
        }
        // The servers have closed the sockets that they got.
        sockets.close()
        await close()
        try end.get()
    }

    private func serve(
        on sockets: BoundSockets, reloading: ConfigurationSource?, started: @escaping @Sendable ([String: String]) -> Void
    ) async throws {
        try FileDescriptors.require(FileDescriptors.ofServing)
        // What became public or expired while no process ran is settled before the first response.
        try await parts.schedules.settle()
        _ = try await parts.schedules.readHidden()
        try await live.checkCurrent()
        if let campaignIndex = try await live.current.campaigns.campaignIndex(of: stores.store) {
            try await stores.store.read(for: .background) { _ in try parts.delivery.begin(campaignIndex, now: stores.clock()) }
        }
        for service in parts.tokenServices { try await service.load() }
        // Signals are handled before the first response, because a client that got a response may send one.
        let signals = await UnixSignalsSequence(trapping: reloading == nil ? [.sigterm, .sigint] : [.sigterm, .sigint, .sighup])
        let (hangUps, hangUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let (servers, settings) = (self.listeners.servers, live.configuration.server)
        let (drain, grace) = (settings.shutdownDelay, settings.shutdownTimeout)
        let watchdog = Watchdog(
            servers.map(\.server), stopTime: drain + grace,
            notifier: SystemdNotifier(environment: ProcessInfo.processInfo.environment))
        let listeners = try await Listeners(
            servers: servers, on: sockets, state: parts.state, drain: drain, grace: grace, prepare: prepare, started: started,
            stopping: watchdog.stopping)
        defer { watchdog.stopped() }
        var services = [watchdog] + background + [listeners]
        if let reloading { services.insert(ConfigurationReloader(source: reloading, hangUps: hangUps, live: live, logger: logger), at: 0) }
        // Without an explicit name, a service is described by all its contents.
        let named = services.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0, serviceName: "\(type(of: $0))") }
        let group = ServiceGroup(configuration: .init(services: named, logger: logger))
        let signalTask = Task {
            for await signal in signals {
                if signal == .sighup {
                    hangUp.yield()
                } else {
                    await group.triggerGracefulShutdown()
                }
            }
        }
        defer { signalTask.cancel() }
        try await group.run()
    }
}
