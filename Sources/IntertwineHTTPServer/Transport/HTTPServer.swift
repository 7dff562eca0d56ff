internal import Glibc
internal import IntertwinePrimitives
internal import Synchronization

/// An HTTP/1.1 server on sockets and Dispatch, by default with one event loop per core.
package final class HTTPServer: Sendable {
    private struct State {
        var workers: [Worker] = []
        var acceptors: [Acceptor] = []
        var socket: ListeningSocket?
        var isStarted = false
    }

    private let configuration: HTTPServerConfiguration
    private let handler: any HTTPHandler
    private let observer: (any HTTPServerObserver)?
    let connectionLimiter: ConnectionLimiter
    private let state = Mutex(State())

    package init(
        configuration: HTTPServerConfiguration = HTTPServerConfiguration(), handler: any HTTPHandler,
        observer: (any HTTPServerObserver)? = nil
    ) {
        self.configuration = configuration
        self.handler = handler
        self.observer = observer
        self.connectionLimiter = ConnectionLimiter(limit: configuration.connectionLimit, peerLimit: configuration.connectionsPerPeer)
    }

    /// If the configured port is 0, it has the port that the kernel chose.
    package func start(on socket: ListeningSocket? = nil) async throws -> PeerAddress {
        let wasStarted = state.withLock { state in
            defer { state.isStarted = true }
            return state.isStarted
        }
        if wasStarted { throw HTTPServerError.cannotListen("the same address twice") }
        let socket = try socket ?? ListeningSocket(configuration)
        let bound = socket.address
        var workers: [Worker] = []
        let bodies = MemoryBudget(limit: configuration.bodiesLimit)
        let outputs = MemoryBudget(limit: configuration.outputsLimit)
        do {
            for number in 0..<(configuration.loops ?? Processors.count) {
                let loop = try EventLoop(label: "http-\(number)", tick: configuration.timerTick)
                workers.append(
                    Worker(
                        loop: loop, configuration: configuration, handler: handler, observer: observer,
                        connectionLimiter: connectionLimiter, bodies: bodies,
                        outputs: outputs))
            }
        } catch {
            for worker in workers { worker.loop.stop() }
            throw HTTPServerError.cannotListen("\(bound): \(error)")
        }
        let all = workers
        let acceptors = all.map { Acceptor(worker: $0, workers: all, socket: socket) }
        connectionLimiter.lower(to: Self.affordableConnections)
        state.withLock { state in
            state.workers = all
            state.acceptors = acceptors
            state.socket = socket
        }
        do {
            for (worker, acceptor) in zip(all, acceptors) {
                try await worker.loop.perform {
                    try acceptor.start()
                }
            }
        } catch {
            await shutdown(grace: .zero)
            throw HTTPServerError.cannotListen("\(bound): \(error)")
        }
        return bound
    }

    private static var affordableConnections: Int {
        var limit = rlimit()
        // The kernel assigns the lowest free number, so this number approximates the descriptors in use.
        let lowest = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard lowest >= 0, getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        close(lowest)
        let free = max(0, Int(clamping: limit.rlim_cur) - Int(lowest))
        return free - min(64, free / 4)
    }

    package func awaitLoops() async {
        for worker in state.withLock({ $0.workers }) { try? await worker.loop.perform {} }
    }

    /// Why: a load balancer needs a moment to notice that this server stops. Until then it sends requests, which must not fail.
    package func closeAfterResponses() async {
        for worker in state.withLock({ $0.workers }) {
            try? await worker.loop.perform { worker.closesAfterResponses = true }
        }
    }

    package func shutdown(grace: Duration) async {
        let (workers, acceptors, socket) = state.withLock { state in
            defer { (state.workers, state.acceptors, state.socket) = ([], [], nil) }
            return (state.workers, state.acceptors, state.socket)
        }
        guard let socket else { return }
        for (worker, acceptor) in zip(workers, acceptors) {
            let isLast = acceptor === acceptors.last
            // The socket is closed right after the last accept. Connections that the kernel accepts in between are reset.
            // All responses already close their connections.
            try? await worker.loop.perform {
                acceptor.stop()
                worker.isDraining = true
                if isLast { socket.close() }
            }
        }
        for worker in workers {
            worker.loop.execute { for connection in worker.connections { connection.drain() } }
        }
        let connectionLimiter = self.connectionLimiter
        await withTaskGroup { group in
            group.addTask { await connectionLimiter.empty() }
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
        await connectionLimiter.empty()
        for worker in workers { worker.loop.stop() }
    }
}

extension EventLoop {
    func perform(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            execute { continuation.resume(with: Result { try body() }) }
        }
    }
}
