internal import Synchronization

/// The body of an open-ended response whose bytes any thread can send.
package final class EventStream: @unchecked Sendable {
    // Safety of @unchecked: the constants are Sendable, and `isOver`, which any thread reads, is an atomic. `connection` is touched only on
    // the worker's loop: it is set when the exchange hands over, read by `write`, which `send` executes on the loop, and cleared by `end`,
    // which the connection calls there.

    private static let waitingLimit = 64 * 1024
    private static let maxStreamsPerTick = 256

    private let worker: Worker
    private let isChunked: Bool
    private let isCoded: Bool
    private let isOver = Atomic(false)
    private var connection: Connection?
    private var coded = GzipStream()

    init(on connection: Connection, isChunked: Bool, isCoded: Bool) {
        worker = connection.worker
        self.connection = connection
        (self.isChunked, self.isCoded) = (isChunked, isCoded)
    }

    package var isOpen: Bool { !isOver.load(ordering: .relaxed) }

    package static func send(_ bytes: [UInt8], to streams: [EventStream], ending: Bool = false) {
        let message = Message(bytes, coded: streams.contains(where: \.isCoded) ? GzipPart(bytes) : nil, ending: ending)
        for (_, streams) in Dictionary(grouping: streams, by: { ObjectIdentifier($0.worker) }) {
            for start in stride(from: 0, to: streams.count, by: maxStreamsPerTick) {
                let part = streams[start..<min(start + maxStreamsPerTick, streams.count)]
                part.first?.worker.loop.execute { for stream in part { stream.write(message) } }
            }
        }
    }

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
            // If memory was short, the connection is reset: the client must not treat a stream with a gap as complete.
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

    /// Ends the stream because the connection has ended or has sent its last bytes.
    func end() {
        isOver.store(true, ordering: .relaxed)
        connection = nil
    }

    /// Ends the stream because the service stops.
    func drain() { write(Message([], coded: isCoded ? GzipPart([]) : nil, ending: true)) }
}
