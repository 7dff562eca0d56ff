internal import EventLoop
internal import HTTPTypes
internal import Synchronization

/// One event loop with what its connections share: buffers, parsers, the date. Everything here happens on the loop.
final class Lane: @unchecked Sendable {
    // Safety of @unchecked: the constants are Sendable, the atomic is one, and all other variables are touched on the loop only.

    let loop: EventLoop
    let tasks: LoopTaskExecutor
    let configuration: HTTPServerConfiguration
    let handler: any HTTPHandler
    let observer: (any HTTPServerObserver)?
    let census: ConnectionCensus
    let allowedMethods: String
    /// Connections of this lane, for dealing new ones out; those still on their way included.
    let load = Atomic<Int>(0)

    let scratch: UnsafeMutableBufferPointer<UInt8>
    let stage: OutputBuffer
    let date = DateStamp()
    var parser: HeadParser
    private var spareParsers: [HeadParser] = []
    private(set) var connections: [Connection] = []
    var isDraining = false
    var lastExchange: UInt64 = 0

    init(
        loop: EventLoop, configuration: HTTPServerConfiguration, handler: any HTTPHandler, observer: (any HTTPServerObserver)?,
        census: ConnectionCensus
    ) {
        self.loop = loop
        self.tasks = LoopTaskExecutor(loop)
        self.configuration = configuration
        self.handler = handler
        self.observer = observer
        self.census = census
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

    /// Takes a connection over. The descriptor is the lane's from here on.
    func adopt(_ descriptor: Int32, peer: PeerAddress) {
        let connection = Connection(descriptor: descriptor, peer: peer, lane: self)
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

    /// Closes the connections that have been idle longest, a bunch at a time so that a flood does not pay for the search each time.
    ///
    /// - Returns: how many were closed.
    func closeIdle() -> Int {
        let limit = min(32, max(1, configuration.connectionLimit / 50))
        let idle = connections.filter(\.isIdle).sorted { $0.lastActive < $1.lastActive }.prefix(limit)
        for connection in idle { connection.close() }
        return idle.count
    }
}
