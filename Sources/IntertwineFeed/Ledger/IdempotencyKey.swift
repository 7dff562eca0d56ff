/// A client's `Idempotency-Key`, with what it was used for.
public struct IdempotencyKey: Sendable, Hashable {
    /// Who used it (viewer or address) and the key itself; unique together.
    public var scope: String
    /// What the scope of the same client and key was under the signing key before; nil where there is none. Answers may be kept under it.
    public var formerScope: String?
    public var key: String
    /// A digest of method, path and body: the same key with another request is an error (422).
    public var fingerprint: String
    /// Milliseconds since 1970-01-01 UTC after which the key is forgotten.
    public var expires: Int64

    public init(scope: String, formerScope: String? = nil, key: String, fingerprint: String, expires: Int64) {
        self.scope = scope
        self.formerScope = formerScope
        self.key = key
        self.fingerprint = fingerprint
        self.expires = expires
    }
}
