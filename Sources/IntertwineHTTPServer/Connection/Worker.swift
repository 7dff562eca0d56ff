internal import CIntertwineLinux
internal import Glibc
internal import HTTPTypes
internal import IntertwineEventLoop
internal import Synchronization

/// One event loop with what its connections share: buffers, parsers, the date. Everything here happens on the loop.
final class Worker: @unchecked Sendable {
    // Safety of @unchecked: the constants are Sendable, the atomic is one, and all other variables are touched on the loop only.

    let loop: EventLoop
    let configuration: HTTPServerConfiguration
    let handler: any HTTPHandler
    let observer: (any HTTPServerObserver)?
    let census: ConnectionCensus
    let bodies: BodyAllowance
    let allowedMethods: String
    /// Connections of this worker, for dealing new ones out; those still on their way included.
    let load = Atomic<Int>(0)

    let scratch: UnsafeMutableBufferPointer<UInt8>
    let stage: OutputBuffer
    let date = DateStamp()
    let requestID = RequestID.Line()
    var parser: HeadParser
    private var spareParsers: [HeadParser] = []
    private(set) var connections: [Connection] = []
    /// All answers are the last of their connections.
    var isDraining = false
    /// Every request is refused: the server is about to stop.
    var isRefusing = false
    var lastExchange: UInt64 = 0

    init(
        loop: EventLoop, configuration: HTTPServerConfiguration, handler: any HTTPHandler, observer: (any HTTPServerObserver)?,
        census: ConnectionCensus, bodies: BodyAllowance
    ) {
        self.loop = loop
        self.configuration = configuration
        self.handler = handler
        self.observer = observer
        self.census = census
        self.bodies = bodies
        self.allowedMethods = configuration.methods.map(\.rawValue).joined(separator: ", ")
        self.scratch = .allocate(capacity: 64 * 1024)
        self.stage = OutputBuffer(capacity: 256 * 1024)
        self.parser = HeadParser(limits: configuration.headLimits)
    }

    deinit {
        scratch.deallocate()
    }

    /// Replaces the shared parser, which a connection keeps for a message that is not complete.
    func takeParser() -> HeadParser {
        let taken = parser
        parser = spareParsers.popLast() ?? HeadParser(limits: configuration.headLimits)
        return taken
    }

    func giveBack(_ parser: HeadParser) {
        parser.reset()
        if spareParsers.count < 16 { spareParsers.append(parser) }
    }

    /// Takes a connection over. The descriptor is the worker's from here on.
    func adopt(_ descriptor: Int32, peer: PeerAddress) {
        let connection = Connection(descriptor: descriptor, peer: peer, worker: self)
        connection.index = connections.count
        connections.append(connection)
        connection.start()
    }

    func forget(_ connection: Connection) {
        let index = connection.index
        guard index < connections.count, connections[index] === connection else { return }
        connections.swapAt(index, connections.count - 1)
        connections[index].index = index
        connections.removeLast()
        load.subtract(1, ordering: .relaxed)
        let open = census.leave(connection.peer)
        observer?.connectionClosed(open: open)
    }

    /// Closes connections that are idle, those first that have been longest, a bunch at a time where there are many, so that a flood
    /// does not pay for the search each time. Newcomers, whose request may be on its way, come last of all.
    ///
    /// - Parameter sparesNewcomers: closes none of them.
    /// - Returns: whether there is room now.
    func closeIdle(sparesNewcomers: Bool) -> Bool {
        let before = connections.count
        var idle = connections.filter { $0.isIdle && !$0.isNewcomer }.sorted { $0.lastActive < $1.lastActive }
        if idle.isEmpty, !sparesNewcomers { idle = connections.filter(\.isIdle).sorted { $0.lastActive < $1.lastActive } }
        let limit = max(0, before - min(32, max(1, before / 50)))
        for connection in idle where connections.count > limit { connection.giveWay() }
        return connections.count < before
    }

    /// Tells a client that there is no room for it, and that this was all. The descriptor stays open.
    func refuse(_ descriptor: Int32) {
        defer { stage.clear() }
        // Closing on what has come unread would have the kernel reset the connection, and the client lose the answer.
        let count = recv(descriptor, scratch.baseAddress, scratch.count, Int32(MSG_DONTWAIT))
        let received = UnsafeBufferPointer(rebasing: scratch[0..<max(0, count)])
        let problem = ProblemDetails(status: 503, detail: "There are too many connections.").response(fields: [.retryAfter: "1"])
        let response = problem.adding(handler.refusalFields { ByteView(received).lineValue(of: $0) })
        let refusal = FinishedResponse(response, compressionLevel: nil, route: nil).identity
        stage.append(refusal.head.bytes)
        stage.replace(at: refusal.head.dateOffset, with: date.current())
        requestID.write(requestID.make(), in: UnsafeBufferPointer(start: nil, count: 0))
        stage.append(requestID.bytes)
        stage.append("Connection: close\r\n\r\n")
        stage.append(refusal.body)
        _ = send(descriptor, stage.bytes.baseAddress, stage.count, Int32(MSG_NOSIGNAL))
        shutdown(descriptor, Int32(SHUT_WR))
        _ = recv(descriptor, scratch.baseAddress, scratch.count, Int32(MSG_DONTWAIT))
    }
}
