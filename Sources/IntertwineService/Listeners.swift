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

    /// Binds them all, has the rest prepared, and lets them answer.
    ///
    /// - Parameters:
    ///   - drain: how long a stop has the first one answer 503 before it closes.
    ///   - grace: how long a stop then waits for answers under way.
    ///   - prepare: called when everything is bound, before anything is answered.
    ///   - started: called with the address of each listener, by name, when signals are heeded.
    /// - Throws: where an address cannot be listened on, or what `prepare` throws.
    init(
        servers: [(name: String, server: HTTPServer)], state: ServiceState, drain: Duration, grace: Duration, prepare: () throws -> Void,
        started: @escaping @Sendable ([String: String]) -> Void
    ) async throws {
        self.servers = servers
        self.state = state
        self.drain = drain
        self.grace = grace
        self.started = started
        addresses = try await Self.start(servers[...], prepare)
    }

    private static func start(
        _ servers: ArraySlice<(name: String, server: HTTPServer)>, _ prepare: () throws -> Void
    ) async throws -> [String: String] {
        guard let (name, server) = servers.first else {
            try prepare()
            return [:]
        }
        var addresses: [String: String] = [:]
        let address = try await server.start { addresses = try await start(servers.dropFirst(), prepare) }
        addresses[name] = address.description
        return addresses
    }

    func run() async throws {
        started(addresses)
        try? await gracefulShutdown()
        state.drain()
        if drain > .zero, let (_, first) = servers.first {
            await first.refuseRequests()
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
