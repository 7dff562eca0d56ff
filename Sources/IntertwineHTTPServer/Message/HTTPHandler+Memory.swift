package import HTTPTypes
internal import Synchronization

extension HTTPHandler {
    /// Answers a request that no connection brought. What is the server's own is left out: limits, deadlines, conditions, ranges, codings,
    /// and the fields that tell of them.
    ///
    /// - Returns: the answer, and all of its body.
    /// - Throws: what breaks a streamed body off.
    package func response(
        to head: HTTPRequest, body: [UInt8], from peer: PeerAddress
    ) async throws -> (response: ServerResponse, body: [UInt8]) {
        let request = ServerRequest(
            head: head, body: RequestBody(storage: .collected(body, nil)), peer: peer,
            id: RequestID(
                .made(.random(in: .min ... .max), .random(in: .min ... .max)), in: UnsafeBufferPointer(start: nil, count: 0)))
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

/// The bytes of a streamed body, where no connection takes them.
final class BodyCollector: Sendable {
    private let collected = Mutex<[UInt8]>([])

    var bytes: [UInt8] { collected.withLock { $0 } }

    func append(_ bytes: [UInt8]) {
        collected.withLock { $0 += bytes }
    }
}
