internal import Crypto
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineRouting

/// Reads `Idempotency-Key`.
struct IdempotencyKeys: Sendable {
    /// How long a key is remembered, in milliseconds.
    static let lifetime: Int64 = 24 * 3_600_000

    private let clients: ClientReader
    private let secret: SymmetricKey
    /// That of the signing key before, under which answers may still be kept.
    private let formerSecret: SymmetricKey?

    init(clients: ClientReader, keys: SigningKeys) {
        self.clients = clients
        secret = Self.secret(keys.current)
        formerSecret = keys.previous.map(Self.secret)
    }

    /// The request's key, or nil where it has none.
    ///
    /// - Throws: ``Problem`` (400) where it is empty, too long, or not of visible ASCII.
    func key(of request: RouteRequest, viewer: String?) throws(Problem) -> IdempotencyKey? {
        guard let key = try request[Parameter.idempotencyKey] else { return nil }
        var digest = SHA256()
        for part in [request.head.method.rawValue, request.head.path ?? ""] { digest.update(data: Array(part.utf8) + [0]) }
        digest.update(data: request.request.body.bytes ?? [])
        let owner =
            viewer.map { "viewer\u{0}\($0)" } ?? "address\u{0}\(clients.address(of: request.head, from: request.request.peer.address))"
        return IdempotencyKey(
            scope: Self.scope(of: key, owner, secret), formerScope: formerSecret.map { Self.scope(of: key, owner, $0) }, key: key,
            fingerprint: Hexadecimal.text(digest.finalize()), expires: request.now + Self.lifetime)
    }

    private static func secret(_ key: SigningKey) -> SymmetricKey {
        key.derived(for: SigningPurpose(rawValue: "idempotency"))
    }

    /// Names whose key it is without telling who that is: viewers and addresses do not come into the store by it, nor can it be seen which
    /// keys are the same person's. It holds for as long as the key, midnight included.
    private static func scope(of key: String, _ owner: String, _ secret: SymmetricKey) -> String {
        Hexadecimal.text(HMAC<SHA256>.authenticationCode(for: Array("\(key)\u{0}\(owner)".utf8), using: secret))
    }
}
