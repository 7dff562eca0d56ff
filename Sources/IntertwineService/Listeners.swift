internal import IntertwineHTTPServer
internal import ServiceLifecycle
internal import Synchronization

/// The listening servers as one service, which starts and stops them in order.
struct Listeners: ServiceLifecycle.Service {
    private let servers: [(name: String, server: HTTPServer)]
    private let state: ServiceState
    private let drain: Duration
    private let grace: Duration
    private let started: @Sendable ([String: String]) -> Void
    /// The address of each listener by name.
    private let addresses: [String: String]

    /// Prepares the service and starts the servers.
    ///
    /// - Parameters:
    ///   - sockets: The bound sockets.
    ///   - drain: The time for which the first server continues to serve after a stop, with `Connection: close`.
    ///   - grace: The time for which a stop then waits for responses in progress.
    ///   - prepare: Called before one of the servers responds; it blocks.
    ///   - started: Called with the address of each listener by name, after signals are handled.
    /// - Throws: The errors of `prepare`, or `HTTPServerError`; the sockets are closed in that case.
    init(
        servers: [(name: String, server: HTTPServer)], on sockets: StartingListeners, state: ServiceState, drain: Duration, grace: Duration,
        prepare: @escaping @Sendable () throws -> Void, started: @escaping @Sendable ([String: String]) -> Void
    ) async throws {
        self.servers = servers
        self.state = state
        self.drain = drain
        self.grace = grace
        self.started = started
        do {
            try await StartingListeners.perform(prepare)
            await sockets.end()
            var addresses: [String: String] = [:]
            for (name, server) in servers.reversed() { addresses[name] = try await server.start(on: sockets[name]).description }
            self.addresses = addresses
        } catch {
            for (_, server) in servers { await server.shutdown(grace: .zero) }
            await sockets.close()
            throw error
        }
    }

    func run() async throws {
        started(addresses)
        try? await gracefulShutdown()
        state.drain()
        if drain > .zero, let (_, first) = servers.first {
            await first.closeAfterResponses()
            try? await Task.sleep(for: drain)
        }
        // The servers stop one after another. The admin listener is the last, so that it reports the state until the others have stopped.
        let end = ContinuousClock.now + grace
        for (_, server) in servers { await server.shutdown(grace: max(.zero, end - .now)) }
    }
}

/// The state of the service: serving or draining.
final class ServiceState: Sendable {
    private let draining = Atomic(false)

    var isDraining: Bool { draining.load(ordering: .relaxed) }

    func drain() {
        draining.store(true, ordering: .relaxed)
    }
}
