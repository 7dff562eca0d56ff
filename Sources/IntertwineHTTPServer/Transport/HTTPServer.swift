internal import Glibc
internal import IntertwineEventLoop
internal import Synchronization

/// An HTTP/1.1 server on sockets and Dispatch: as many event loops as cores, each with its own connections.
public final class HTTPServer: Sendable {
    private struct State {
        var workers: [Worker] = []
        var acceptors: [Acceptor] = []
        var socket: ListeningSocket?
        var isStarted = false
    }

    private let configuration: HTTPServerConfiguration
    private let handler: any HTTPHandler
    private let observer: (any HTTPServerObserver)?
    private let census: ConnectionLimiter
    private let state = Mutex(State())

    /// - Throws: ``HTTPServerError/invalidConfiguration(_:)``.
    public init(
        configuration: HTTPServerConfiguration, handler: any HTTPHandler, observer: (any HTTPServerObserver)? = nil
    ) throws(HTTPServerError) {
        try configuration.validate()
        self.configuration = configuration
        self.handler = handler
        self.observer = observer
        self.census = ConnectionLimiter(limit: configuration.connectionLimit, peerLimit: configuration.connectionsPerPeer)
    }

    /// Begins to answer. Called once.
    ///
    /// - Parameter socket: the bound socket to accept connections from; nil to bind the configured address now.
    /// - Returns: the address that was bound, with the port the kernel chose where it was asked to.
    /// - Throws: ``HTTPServerError`` where the address is unknown or taken, or the process has no descriptor left.
    public func start(on socket: ListeningSocket? = nil) async throws -> PeerAddress {
        let wasStarted = state.withLock { state in
            defer { state.isStarted = true }
            return state.isStarted
        }
        if wasStarted { throw HTTPServerError.cannotListen("one address twice") }
        let socket = try socket ?? ListeningSocket(configuration)
        let bound = socket.address
        var workers: [Worker] = []
        let bodies = MemoryBudget(limit: configuration.bodiesLimit)
        do {
            for number in 0..<(configuration.loops ?? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))) {
                let loop = try EventLoop(label: "http-\(number)", tick: configuration.timerTick)
                workers.append(
                    Worker(
                        loop: loop, configuration: configuration, handler: handler, observer: observer, census: census, bodies: bodies))
            }
        } catch {
            for worker in workers { worker.loop.stop() }
            throw HTTPServerError.cannotListen("\(bound): \(error)")
        }
        let all = workers
        let acceptors = all.map { Acceptor(worker: $0, workers: all, socket: socket) }
        census.lower(to: Self.affordableConnections)
        state.withLock { state in
            state.workers = all
            state.acceptors = acceptors
            state.socket = socket
        }
        do {
            for (worker, acceptor) in zip(all, acceptors) {
                try await worker.loop.perform {
                    try acceptor.start()
                    worker.startBeating()
                }
            }
        } catch {
            await shutdown(grace: .zero)
            throw HTTPServerError.cannotListen("\(bound): \(error)")
        }
        return bound
    }

    /// As many connections as there are descriptors for. A quarter of those that are free, 64 at the most, is left for the files and
    /// the connections to others that answers are made from.
    private static var affordableConnections: Int {
        var limit = rlimit()
        // The kernel gives out the lowest number that is free: so many are taken.
        let lowest = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard lowest >= 0, getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        close(lowest)
        let free = max(0, Int(clamping: limit.rlim_cur) - Int(lowest))
        return free - min(64, free / 4)
    }

    /// Connections that are open now.
    public var openConnections: Int { census.total }

    /// How often each event loop has beaten: one that does not beat again within some heartbeats is stuck. Empty before the start and after the stop.
    public var beats: [UInt64] { state.withLock { $0.workers.map { $0.beats.load(ordering: .relaxed) } } }

    /// Closes each connection after its next response (`Connection: close`). Requests are served as before, and new connections are accepted.
    ///
    /// Why: a load balancer needs a moment to notice that this server stops. Until then it sends requests, which must not fail.
    public func closeAfterResponses() async {
        for worker in state.withLock({ $0.workers }) {
            try? await worker.loop.perform { worker.closesAfterResponses = true }
        }
    }

    /// Stops: no new connections, idle ones closed, requests under way finished and answered with `Connection: close`.
    ///
    /// - Parameters:
    ///   - grace: how long that may take. What is left then is cut off.
    ///   - closesSocket: whether the listening socket is closed; if not, another server may accept from it.
    public func shutdown(grace: Duration, closesSocket: Bool = true) async {
        let (workers, acceptors, socket) = state.withLock { state in
            defer { (state.workers, state.acceptors, state.socket) = ([], [], nil) }
            return (state.workers, state.acceptors, state.socket)
        }
        guard let socket else { return }
        for (worker, acceptor) in zip(workers, acceptors) {
            let isLast = acceptor === acceptors.last
            // Closed right behind the last look: what the kernel takes in between is broken off. All answers are the last by then.
            try? await worker.loop.perform {
                acceptor.stop()
                worker.isDraining = true
                if isLast, closesSocket { socket.close() }
            }
        }
        for worker in workers {
            worker.loop.execute { for connection in worker.connections { connection.drain() } }
        }
        let census = self.census
        await withTaskGroup { group in
            group.addTask { await census.empty() }
            group.addTask {
                try? await Task.sleep(for: grace)
                guard !Task.isCancelled else { return }
                for worker in workers {
                    worker.loop.execute { for connection in worker.connections { connection.reset() } }
                }
            }
            await group.next()
            group.cancelAll()
        }
        await census.empty()
        for worker in workers { worker.loop.stop() }
    }
}

extension EventLoop {
    /// Runs `body` on the loop and waits for it.
    func perform(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            execute { continuation.resume(with: Result { try body() }) }
        }
    }
}
