package import HTTPTypes
internal import Synchronization

extension HTTPHandler {
    /// Answers a request without a connection. Functions of the server are left out: limits, deadlines, conditions, ranges, codings,
    /// and the fields that describe them.
    ///
    /// - Returns: The response and its whole body.
    /// - Throws: The error that ends a streamed body early.
    package func response(
        to head: HTTPRequest, body: [UInt8], from peer: PeerAddress
    ) async throws -> (response: ServerResponse, body: [UInt8]) {
        let request = ServerRequest(
            head: head, body: RequestBody(storage: .collected(body, nil)), peer: peer,
            id: RequestID(
                .generated(.random(in: .min ... .max), .random(in: .min ... .max)), in: UnsafeBufferPointer(start: nil, count: 0)))
        let response = await plan(for: head, peer: peer).respond(to: request).unfinished
        guard head.method != .head else { return (response, []) }
        switch response.body {
        case .content(.bytes(let bytes)): return (response, bytes)
        case .content(.file(let file)): return (response, file.bytes)
        case .encoded, .pushed: return (response, [])
        case .stream(_, let produce):
            let collector = BodyCollector()
            try await produce(ResponseWriter(collector))
            return (response, collector.bytes)
        }
    }
}

/// Collects the bytes of a streamed body if there is no connection.
final class BodyCollector: Sendable {
    private let collected = Mutex<[UInt8]>([])

    var bytes: [UInt8] { collected.withLock { $0 } }

    func append(_ bytes: [UInt8]) {
        collected.withLock { $0 += bytes }
    }
}
