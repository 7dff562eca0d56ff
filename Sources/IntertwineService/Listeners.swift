internal import Dispatch
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import ServiceLifecycle
internal import Synchronization

struct Listeners: ServiceLifecycle.Service {
    private let servers: [(name: String, server: HTTPServer)]
    private let state: ServiceState
    private let drain: Duration
    private let grace: Duration
    private let started: @Sendable ([String: String]) -> Void
    private let stopping: @Sendable () -> Void
    private let addresses: [String: String]

    init(
        servers: [(name: String, server: HTTPServer)], on sockets: BoundSockets, state: ServiceState, drain: Duration, grace: Duration,
        prepare: @escaping @Sendable () throws -> Void, started: @escaping @Sendable ([String: String]) -> Void,
        stopping: @escaping @Sendable () -> Void
    ) async throws {
        self.servers = servers
        self.state = state
        self.drain = drain
        self.grace = grace
        self.started = started
        self.stopping = stopping
        do {
            try await DispatchQueue.global().perform(prepare)
            var addresses: [String: String] = [:]
            for (name, server) in servers.reversed() { addresses[name] = try await server.start(on: sockets[name]).description }
            self.addresses = addresses
        } catch {
            for (_, server) in servers { await server.shutdown(grace: .zero) }
            sockets.close()
            throw error
        }
    }

    func run() async throws {
        started(addresses)
        try? await gracefulShutdown()
        stopping()
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

/// The sockets of the listeners, bound before the stores are opened: a start that cannot bind opens no store, and the requests that arrive
/// while the stores are opened wait in the kernel.
struct BoundSockets: Sendable {
    private var sockets: [String: ListeningSocket] = [:]

    init(_ configuration: ServiceConfiguration) throws {
        try FileDescriptors.require(FileDescriptors.ofStores + FileDescriptors.ofServing)
        sockets["service"] = try ListeningSocket(configuration.publicServer)
        if configuration.admin.isEnabled { sockets["admin"] = try ListeningSocket(configuration.adminServer) }
    }

    subscript(name: String) -> ListeningSocket? { sockets[name] }

    func close() {
        for socket in sockets.values { socket.close() }
    }
}

final class ServiceState: Sendable {
    private let draining = Atomic(false)

    var isDraining: Bool { draining.load(ordering: .relaxed) }

    func drain() {
        draining.store(true, ordering: .relaxed)
    }
}
