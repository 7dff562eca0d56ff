internal import IntertwineHTTPServer
internal import ServiceLifecycle
internal import Synchronization

/// The listening servers, as one thing that starts and stops, in their order.
struct Listeners: ServiceLifecycle.Service {
    private let servers: [(name: String, server: HTTPServer)]
    private let state: ServiceState
    private let drain: Duration
    private let grace: Duration
    private let started: @Sendable ([String: String]) -> Void
    /// Of each listener, by name.
    private let addresses: [String: String]

    /// Has the rest prepared, and begins to answer.
    ///
    /// - Parameters:
    ///   - sockets: bound already.
    ///   - drain: how long the first one goes on serving after a stop, with `Connection: close`, before it closes.
    ///   - grace: how long a stop then waits for answers under way.
    ///   - prepare: called before a server of these answers anything; it blocks.
    ///   - started: called with the address of each listener, by name, when signals are heeded.
    /// - Throws: what `prepare` throws, or `HTTPServerError`; the sockets are then closed.
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
        // One after another, so that the operators' listener, the last one, tells how things stand until the others are done.
        let end = ContinuousClock.now + grace
        for (_, server) in servers { await server.shutdown(grace: max(.zero, end - .now)) }
    }
}

/// Whether the service is on its way out.
final class ServiceState: Sendable {
    private let draining = Atomic(false)

    var isDraining: Bool { draining.load(ordering: .relaxed) }

    func drain() {
        draining.store(true, ordering: .relaxed)
    }
}
