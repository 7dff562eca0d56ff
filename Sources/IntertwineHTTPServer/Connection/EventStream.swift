internal import IntertwineEventLoop
internal import Synchronization

/// The body of an answer that goes on for as long as client and service like, fed from outside: no task waits in it, no timer is its own, and
/// while nothing is sent it costs its connection and this.
///
/// A client that does not take what it is sent is cut off: what waits for it is bounded, and so is the time.
public final class EventStream: @unchecked Sendable {
    // Safety of @unchecked: the constants are Sendable, and `isOver`, which any thread reads, is an atomic. `connection` is touched on the
    // worker's loop alone: set when the exchange hands over, read by `write`, which `send` has the loop execute, and cleared by `end`, which the
    // connection calls there.

    /// Bytes that may still wait for a client when the next are sent.
    private static let waitingLimit = 64 * 1024
    /// So many streams are written to before a loop's other connections have their turn.
    private static let maxStreamsPerTick = 256

    private let worker: Worker
    private let isChunked: Bool
    private let isCoded: Bool
    private let isOver = Atomic(false)
    private var connection: Connection?
    /// What was sent so far, of a stream in gzip coding. On the loop.
    private var coded = GzipStream()

    /// - Parameter isCoded: whether the stream is in gzip coding.
    init(on connection: Connection, isChunked: Bool, isCoded: Bool) {
        worker = connection.worker
        self.connection = connection
        (self.isChunked, self.isCoded) = (isChunked, isCoded)
    }

    /// Whether the client is still there, as far as is known.
    public var isOpen: Bool { !isOver.load(ordering: .relaxed) }

    /// Sends the same bytes to several clients. From any thread; those that are gone are passed over.
    ///
    /// - Parameter ending: whether they are the last.
    public static func send(_ bytes: [UInt8], to streams: [EventStream], ending: Bool = false) {
        let message = Message(bytes, coded: streams.contains(where: \.isCoded) ? GzipPart(bytes) : nil, ending: ending)
        for (_, streams) in Dictionary(grouping: streams, by: { ObjectIdentifier($0.worker) }) {
            for start in stride(from: 0, to: streams.count, by: maxStreamsPerTick) {
                let part = streams[start..<min(start + maxStreamsPerTick, streams.count)]
                part.first?.worker.loop.execute { for stream in part { stream.write(message) } }
            }
        }
    }

    /// The same bytes as each coding and framing has them.
    private struct Message: Sendable {
        let identity: Framed
        let coded: (part: GzipPart, framed: Framed)?
        let ending: Bool

        init(_ bytes: [UInt8], coded: GzipPart?, ending: Bool) {
            identity = Framed(bytes)
            self.coded = coded.map { ($0, Framed($0.bytes)) }
            self.ending = ending
        }
    }

    private struct Framed: Sendable {
        static let end = Array("0\r\n\r\n".utf8)

        let plain: [UInt8]
        let chunked: [UInt8]

        init(_ bytes: [UInt8]) {
            plain = bytes
            chunked = bytes.isEmpty ? [] : Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
        }
    }

    private func write(_ message: Message) {
        guard let connection, connection.carries(self) else { return }
        guard connection.waitingBytes <= Self.waitingLimit else { return connection.reset() }
        if isCoded {
            // Memory was short. The client must not take a stream with a gap for a whole one.
            guard let (part, framed) = message.coded else { return connection.reset() }
            if let header = coded.begin() { append(Framed(header), to: connection) }
            coded.add(part)
            append(framed, to: connection)
            if message.ending { append(Framed(coded.end()), to: connection) }
        } else {
            append(message.identity, to: connection)
        }
        if message.ending {
            if isChunked { connection.append(.bytes(Framed.end), Framed.end.indices) }
            connection.endPushing()
        }
        connection.flushAndUpdateInterest()
    }

    private func append(_ framed: Framed, to connection: Connection) {
        let bytes = isChunked ? framed.chunked : framed.plain
        connection.append(.bytes(bytes), bytes.indices)
    }

    /// The connection is over, or has sent its last. On the loop.
    func end() {
        isOver.store(true, ordering: .relaxed)
        connection = nil
    }

    /// The service stops. On the loop.
    func drain() { write(Message([], coded: isCoded ? GzipPart([]) : nil, ending: true)) }
}
