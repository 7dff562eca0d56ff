internal import Crypto
internal import Feed
internal import HTTPServer
internal import HTTPTypes

/// Reads `Idempotency-Key`.
enum IdempotencyKeys {
    /// How long a key is remembered, in milliseconds.
    static let lifetime: Int64 = 24 * 3_600_000
    private static let longest = 255

    /// The request's key, or nil where it has none.
    ///
    /// - Throws: ``Problem`` (400) where it is empty, too long, or not of visible ASCII.
    static func key(of request: RouteRequest, viewer: String?) throws(Problem) -> IdempotencyKey? {
        guard let key = request.head.headerFields[.idempotencyKey] else { return nil }
        guard !key.isEmpty, key.utf8.count <= longest, key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Problem(.badRequest, .invalidParameter, "Idempotency-Key must be 1 to \(longest) visible ASCII characters.")
        }
        var digest = SHA256()
        for part in [request.head.method.rawValue, request.head.path ?? ""] { digest.update(data: Array(part.utf8) + [0]) }
        digest.update(data: request.request.body.bytes ?? [])
        return IdempotencyKey(
            scope: viewer.map { "viewer \($0)" } ?? "address \(request.request.peer.address)", key: key,
            fingerprint: digest.finalize().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined(),
            expires: request.now + lifetime)
    }
}
