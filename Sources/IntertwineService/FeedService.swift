internal import Foundation
package import IntertwineHTTPServer
public import IntertwineObservability
internal import IntertwineRouting
public import Logging
internal import ServiceLifecycle
internal import UnixSignals

/// The whole service, composed by hand from a configuration: see ``build(configuration:extensions:telemetry:logger:)``.
public struct FeedService: Sendable {
    /// The product's version (semver.org), as `intertwine --version` and `intertwine_build_info` tell it.
    public static let version = "0.1.0"

    let live: ReloadableApplication
    let servers: [(name: String, server: HTTPServer)]
    let state: ServiceState
    let drain: Duration
    let grace: Duration
    /// Lays the store out as the feeds want it: the first thing that a start writes, when nothing is left that can stop it. Throws `StoreError`,
    /// also where another process has just laid it out for other sections.
    package let prepare: @Sendable () throws -> Void
    /// What goes on beside requests.
    let background: [any ServiceLifecycle.Service]
    /// Ends what is open, when nothing is answered any more.
    package let close: @Sendable () async -> Void
    let logger: Logger
    /// The routes of the operators' listener.
    let operatorRoutes: [Route]
    /// What answers on the public listener, for tests that ask it without a socket.
    package let publicHandler: any HTTPHandler
    /// The same of the operators' listener; nil where there is none.
    package let operatorHandler: (any HTTPHandler)?
    /// The routes of the public listener.
    var publicRoutes: [Route] { live.current.routes }

    /// Makes the service and serves, as ``build(configuration:extensions:telemetry:logger:)`` and ``run(reloading:started:)`` do one after the
    /// other. The addresses are bound first: `/healthz` answers while a store is migrated, and a start that cannot bind opens no store.
    ///
    /// - Throws: as the two do.
    public static func serve(
        configuration: ServiceConfiguration, extensions: ServiceExtensions = ServiceExtensions(), telemetry: Telemetry? = nil,
        logger: Logger, reloading: ConfigurationSource? = nil, started: @escaping @Sendable ([String: String]) -> Void = { _ in }
    ) async throws {
        let sockets = try StartingListeners(configuration, logger: logger)
        let service: FeedService
        do {
            service = try await StartingListeners.perform {
                try build(configuration: configuration, extensions: extensions, telemetry: telemetry, logger: logger)
            }
        } catch {
            await sockets.close()
            throw error
        }
        try await service.run(on: sockets, reloading: reloading, started: started)
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
        try await run(on: try StartingListeners(live.configuration, logger: logger), reloading: reloading, started: started)
    }

    private func run(
        on sockets: StartingListeners, reloading: ConfigurationSource?, started: @escaping @Sendable ([String: String]) -> Void
    ) async throws {
        do {
            try FileDescriptors.require(FileDescriptors.ofServing)
            try await live.checkCurrent()
        } catch {
            await sockets.close()
            throw error
        }
        // Heeded before anything is answered: whoever has had an answer may tell the process to stop.
        let signals = await UnixSignalsSequence(trapping: reloading == nil ? [.sigterm, .sigint] : [.sigterm, .sigint, .sighup])
        let (hangUps, hangUp) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watchdog = Watchdog(
            servers.map(\.server), state: state, stopTime: drain + grace,
            notifier: SystemdNotifier(environment: ProcessInfo.processInfo.environment), logger: logger)
        let listeners = try await Listeners(
            servers: servers, on: sockets, state: state, drain: drain, grace: grace, prepare: prepare
        ) { addresses in
            watchdog.ready()
            started(addresses)
        }
        try watchdog.start()
        defer { watchdog.stop() }
        var services = [watchdog] + background + [listeners]
        if let reloading { services.insert(ConfigurationReloader(source: reloading, hangUps: hangUps, live: live, logger: logger), at: 0) }
        // Without a name of its own, each would be described by all that it holds.
        let named = services.map { ServiceGroupConfiguration.ServiceConfiguration(service: $0, serviceName: "\(type(of: $0))") }
        let group = ServiceGroup(configuration: .init(services: named, logger: logger))
        let heeding = Task {
            for await signal in signals {
                if signal == .sighup {
                    hangUp.yield()
                } else {
                    watchdog.stopping()
                    await group.triggerGracefulShutdown()
                }
            }
        }
        defer { heeding.cancel() }
        let end: Result<Void, any Error>
        do {
            end = .success(try await group.run())
        } catch {
            end = .failure(error)
        }
        await close()
        try end.get()
    }
}
