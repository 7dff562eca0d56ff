internal import CIntertwineLinux
internal import Glibc
internal import HTTPTypes
internal import IntertwineEventLoop
internal import Synchronization

/// One event loop with what its connections share: buffers, parsers, the date. Everything here happens on the loop.
final class Worker: @unchecked Sendable {
    // Safety of @unchecked: of the constants, settings, handler, observer, census and allowance are Sendable, and `load` is an atomic: acceptors
    // of other loops read those. `scratch`, `stage`, `headEnd` and the variables are the loop's: connections touch them, which are
    // confined to it, and acceptors and the server in what they have the loop execute. All are made before the loop is given its first work,
    // which comes through the loop's lock.

    /// Each request that waits for its answer has a parser: of those who wait at a time as many find one that was used before.
    private static let mostSpareParsers = 256

    let loop: EventLoop
    let configuration: HTTPServerConfiguration
    let limits: ConnectionState.Limits
    /// Bytes that a client has to take of what waits for it, in the time for that.
    let requiredBytes: Double
    let handler: any HTTPHandler
    let observer: (any HTTPServerObserver)?
    let census: ConnectionLimiter
    let bodies: MemoryBudget
    let allowedMethods: String
    /// Beats of the loop so far.
    let beats = Atomic<UInt64>(0)
    /// Connections of this worker, for dealing new ones out; those still on their way included.
    let load = Atomic<Int>(0)

    let scratch: UnsafeMutableBufferPointer<UInt8>
    let stage: OutputBuffer
    let headEnd = PerResponseHeaders()
    var parser: HeadParser
    private var spareParsers: [HeadParser] = []
    private(set) var connections: [Connection] = []
    /// All answers are the last of their connections.
    var isDraining = false
    /// Every response says `Connection: close`, while connections are still accepted: the server is about to stop.
    var closesAfterResponses = false

    init(
        loop: EventLoop, configuration: HTTPServerConfiguration, handler: any HTTPHandler, observer: (any HTTPServerObserver)?,
        census: ConnectionLimiter, bodies: MemoryBudget
    ) {
        self.loop = loop
        self.configuration = configuration
        self.limits = ConnectionState.Limits(configuration)
        self.requiredBytes = Double(configuration.minimumWriteRate) * (configuration.writeTimeout / .seconds(1))
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
    func obtainParser() -> HeadParser {
        let taken = parser
        parser = spareParsers.popLast() ?? HeadParser(limits: configuration.headLimits)
        return taken
    }

    func recycle(_ parser: HeadParser) {
        parser.reset()
        if spareParsers.count < Self.mostSpareParsers { spareParsers.append(parser) }
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
        let open = census.release(connection.peer)
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
        for connection in idle where connections.count > limit { connection.closeToFreeSlot() }
        return connections.count < before
    }

    /// Has the loop beat, if that is configured.
    func startBeating() {
        if let heartbeat = configuration.heartbeat { _ = loop.schedule(Heartbeat(worker: self, interval: heartbeat), at: loop.now) }
    }

    private final class Heartbeat: TimerHandler {
        private let worker: Worker
        private let interval: Duration

        init(worker: Worker, interval: Duration) { (self.worker, self.interval) = (worker, interval) }

        func timerDue(at now: MonotonicInstant) -> MonotonicInstant? {
            worker.beats.add(1, ordering: .relaxed)
            return now.advanced(by: interval)
        }
    }

    // MARK: Answers

    /// Puts a head behind what is staged. The answer is how many bytes that are.
    ///
    /// - Parameters:
    ///   - fields: more of the head.
    ///   - name: the request's.
    ///   - bytes: the request's head, where that may lie.
    @discardableResult
    func stage(
        _ head: [UInt8], adding fields: EncodedFields? = nil, _ name: RequestID.Source, in bytes: UnsafeBufferPointer<UInt8>, closing: Bool,
        announcing: Bool = false
    ) -> Int {
        let start = stage.count
        stage.append(head)
        if let fields { stage.append(fields.bytes) }
        stage.append(headEnd.bytes(naming: name, in: bytes, closing: closing, announcing: announcing))
        return stage.count - start
    }

    /// Puts an answer of the server's own behind what is staged, the last of its connection. The answer is how many bytes that are.
    ///
    /// - Parameter bytes: what has come of the request.
    @discardableResult
    func stage(_ problem: ProblemDetails, _ name: RequestID.Source, in bytes: UnsafeBufferPointer<UInt8>, hasBody: Bool = true) -> Int {
        var response = problem.response()
        if problem.status == 503 { response.fields[.retryAfter] = "1" }
        response = response.adding(handler.refusalFields { ByteView(bytes).lineValue(of: $0) })
        let body = problem.json
        let head = HeadEncoder(response).head(length: body.count, entityTag: nil, coding: nil)
        let staged = stage(head, name, in: bytes, closing: true)
        if hasBody { stage.append(body) }
        return staged + (hasBody ? body.count : 0)
    }

    /// Tells a client that there is no room for it, and that this was all. The descriptor stays open.
    func refuse(_ descriptor: Int32) {
        defer { stage.clear() }
        // Closing on what has come unread would have the kernel reset the connection, and the client lose the answer.
        let count = recv(descriptor, scratch.baseAddress, scratch.count, Int32(MSG_DONTWAIT))
        let received = UnsafeBufferPointer(rebasing: scratch[0..<max(0, count)])
        stage(ProblemDetails(status: 503, detail: "There are too many connections."), headEnd.makeName(), in: received)
        _ = send(descriptor, stage.bytes.baseAddress, stage.count, Int32(MSG_NOSIGNAL))
        shutdown(descriptor, Int32(SHUT_WR))
        _ = recv(descriptor, scratch.baseAddress, scratch.count, Int32(MSG_DONTWAIT))
    }
}
