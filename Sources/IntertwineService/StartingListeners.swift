internal import Dispatch
internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwineOperators
internal import IntertwineRouting
internal import Logging

/// The sockets of the listeners, bound before the stores are opened: opening a store may wait for another process.
///
/// If a start takes longer than a second, servers respond on the sockets until it is over: 200 for `/healthz`, 503 for everything else. The
/// requests of a shorter start wait in the kernel for the service itself.
final class StartingListeners: Sendable {
    private static let delay = Duration.seconds(1)
    /// The grace period is short, because responses of the starting servers are short and close their connections.
    private static let grace = Duration.seconds(1)

    private let sockets: [String: ListeningSocket]
    private let answering: Task<[HTTPServer], Never>

    /// Binds the addresses.
    ///
    /// - Throws: `ConfigurationError` if the process may open too few files or start too few threads.
    ///   `HTTPServerError` if an address cannot be bound.
    init(_ configuration: ServiceConfiguration, logger: Logger) throws {
        try FileDescriptors.require(FileDescriptors.ofStores + FileDescriptors.ofServing)
        try ThreadLimit.require(ThreadLimit.ofServing)
        var sockets = ["service": try ListeningSocket(configuration.publicServer)]
        var starting = [("service", configuration.publicServer, StartingHandler())]
        if configuration.admin.isEnabled {
            sockets["admin"] = try ListeningSocket(configuration.adminServer)
            let guarding = OperatorGuard(configuration.admin, tokens: nil, open: HealthRoutes.paths, logger: logger)
            starting.append(("admin", configuration.adminServer, StartingHandler(refusal: guarding.problem)))
        }
        self.sockets = sockets
        answering = Task { [sockets, starting] in
            guard (try? await Task.sleep(for: Self.delay)) != nil else { return [] }
            logger.notice("the start continues; /healthz responds")
            var servers: [HTTPServer] = []
            for (name, configuration, handler) in starting {
                var configuration = configuration
                configuration.loops = 1
                // Without a starting server, clients wait for the service itself.
                guard let server = try? HTTPServer(configuration: configuration, handler: handler) else { continue }
                if (try? await server.start(on: sockets[name])) != nil { servers.append(server) }
            }
            return servers
        }
    }

    /// Returns the socket of a listener, for the server that uses it after the start.
    subscript(name: String) -> ListeningSocket? { sockets[name] }

    /// Ends the starting servers. The sockets stay open, and the kernel queues connections.
    func end() async {
        answering.cancel()
        for server in await answering.value { await server.shutdown(grace: Self.grace, closesSocket: false) }
    }

    /// Ends the starting servers and closes the sockets.
    func close() async {
        await end()
        for socket in sockets.values { socket.close() }
    }

    /// Runs blocking work on a thread that may block, so that tasks of the starting servers are not delayed.
    static func perform<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try work() }) }
        }
    }
}

/// A handler that responds while the service starts.
private struct StartingHandler: HTTPHandler {
    /// Returns the refusal of a request; nil if the request is allowed.
    var refusal: @Sendable (HTTPRequest, PeerAddress) -> Problem? = { _, _ in nil }

    func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
        var response = response(to: head.request, from: peer)
        // The connection's next request is for the service itself.
        response.closesConnection = true
        return .respond(response)
    }

    private func response(to request: HTTPRequest, from peer: PeerAddress) -> ServerResponse {
        if let problem = refusal(request, peer) { return problem.response() }
        let path = request.path?.prefix { $0 != "?" }
        if path == "/healthz", request.method == .get || request.method == .head { return HealthRoutes.response("ok") }
        return Problem(.serviceUnavailable, nil, "The service is starting.", fields: [.retryAfter: "1"]).response()
    }
}
