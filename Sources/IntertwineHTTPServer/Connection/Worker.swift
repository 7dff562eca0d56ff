internal import CIntertwineLinux
internal import Glibc
internal import HTTPTypes
internal import Synchronization

/// An event loop with the state that its connections share: buffers, parsers, and the date.
final class Worker: @unchecked Sendable {
    // Safety of @unchecked: among the constants, settings, handler, observer, limiter and memory budget are Sendable, and `load` is an atomic;
    // acceptors of other loops read those. `scratch`, `stage`, `headEnd` and the variables belong to the loop: connections, which are
    // confined to it, touch them, and so do acceptors and the server in closures that the loop executes. All are created before the loop
    // receives its first work, which comes through the loop's lock.

    private static let mostSpareParsers = 256

    let loop: EventLoop
    let configuration: HTTPServerConfiguration
    let limits: ConnectionState.Limits
    let handler: any HTTPHandler
    let observer: (any HTTPServerObserver)?
    let connectionLimiter: ConnectionLimiter
    let bodies: MemoryBudget
    let outputs: MemoryBudget
    let allowedMethods: String
    let load = Atomic<Int>(0)

    let scratch: UnsafeMutableBufferPointer<UInt8>
    let stage: OutputBuffer
    let headEnd = PerResponseHeaders()
    var parser: HeadParser
    private var spareParsers: [HeadParser] = []
    private(set) var connections: [Connection] = []
    var isDraining = false
    /// True if every response says `Connection: close` while connections are still accepted, because the server is about to stop.
    var closesAfterResponses = false

    init(
        loop: EventLoop, configuration: HTTPServerConfiguration, handler: any HTTPHandler, observer: (any HTTPServerObserver)?,
        connectionLimiter: ConnectionLimiter, bodies: MemoryBudget, outputs: MemoryBudget
    ) {
        self.loop = loop
        self.configuration = configuration
        self.limits = ConnectionState.Limits(configuration)
        self.handler = handler
        self.observer = observer
        self.connectionLimiter = connectionLimiter
        (self.bodies, self.outputs) = (bodies, outputs)
        self.allowedMethods = configuration.methods.map(\.rawValue).joined(separator: ", ")
        self.scratch = .allocate(capacity: 64 * 1024)
        self.stage = OutputBuffer(capacity: 256 * 1024)
        self.parser = HeadParser(limits: configuration.headLimits)
    }

    deinit {
        scratch.deallocate()
    }

    func obtainParser() -> HeadParser {
        let reused = parser
        parser = spareParsers.popLast() ?? HeadParser(limits: configuration.headLimits)
        return reused
    }

    func recycle(_ parser: HeadParser) {
        parser.reset()
        if spareParsers.count < Self.mostSpareParsers { spareParsers.append(parser) }
    }

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
        let open = connectionLimiter.release(connection.peer)
        observer?.connectionClosed(open: open)
    }

    /// It closes one in fifty connections, at least 1 and at most 32, so that a flood does not repeat the search for each connection.
    func closeIdle(sparesNewcomers: Bool) -> Bool {
        let before = connections.count
        var idle = connections.filter { $0.isIdle && !$0.isNewcomer }.sorted { $0.lastActive < $1.lastActive }
        if idle.isEmpty, !sparesNewcomers { idle = connections.filter(\.isIdle).sorted { $0.lastActive < $1.lastActive } }
        let limit = max(0, before - min(32, max(1, before / 50)))
        for connection in idle where connections.count > limit { connection.closeToFreeSlot() }
        return connections.count < before
    }

    // MARK: Responses

    @discardableResult
    func stage(
        _ head: [UInt8], vary: [UInt8], adding fields: EncodedFields? = nil, _ name: RequestID.Source, in bytes: UnsafeBufferPointer<UInt8>,
        closing: Bool, announcing: Bool = false
    ) -> Int {
        let start = stage.count
        stage.append(head)
        let added = fields?.vary ?? []
        if !vary.isEmpty || !added.isEmpty {
            stage.append("Vary: ")
            stage.append(vary)
            if !vary.isEmpty, !added.isEmpty { stage.append(", ") }
            stage.append(added)
            stage.append("\r\n")
        }
        if let fields { stage.append(fields.lines) }
        stage.append(headEnd.bytes(naming: name, in: bytes, closing: closing, announcing: announcing))
        return stage.count - start
    }

    @discardableResult
    func stage(
        _ problem: Problem, adding fields: EncodedFields? = nil, _ name: RequestID.Source, in bytes: UnsafeBufferPointer<UInt8>,
        hasBody: Bool = true
    ) -> Int {
        var response = problem.refusal()
        if problem.status == .serviceUnavailable { response.fields[.retryAfter] = "1" }
        let fields = fields ?? EncodedFields(handler.refusalFields { ByteView(bytes).lineValue(of: $0) })
        let body = problem.json()
        let encoder = HeadEncoder(response)
        let head = encoder.head(length: body.count, entityTag: nil, coding: nil)
        let staged = stage(head, vary: encoder.vary, adding: fields, name, in: bytes, closing: true)
        if hasBody { stage.append(body) }
        return staged + (hasBody ? body.count : 0)
    }

    func refuse(_ descriptor: Int32) {
        defer { stage.clear() }
        // Unread bytes are read first: otherwise the kernel resets the connection at the close, and the client loses the response.
        let count = recv(descriptor, scratch.baseAddress, scratch.count, Int32(MSG_DONTWAIT))
        let received = UnsafeBufferPointer(rebasing: scratch[0..<max(0, count)])
        stage(Problem(.serviceUnavailable, nil, "Too many connections are open."), headEnd.makeName(), in: received)
        _ = send(descriptor, stage.bytes.baseAddress, stage.count, Int32(MSG_NOSIGNAL))
        shutdown(descriptor, Int32(SHUT_WR))
        _ = recv(descriptor, scratch.baseAddress, scratch.count, Int32(MSG_DONTWAIT))
    }
}
