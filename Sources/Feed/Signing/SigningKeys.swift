/// The keys that are valid now: the one that signs, and before a rotation is over the one that signed until then.
public struct SigningKeys: Sendable, Hashable {
    public let current: SigningKey
    /// Still accepted, no longer used for signing.
    public let previous: SigningKey?

    public init(current: SigningKey, previous: SigningKey? = nil) {
        self.current = current
        self.previous = previous
    }

    /// What signs and checks values of one purpose.
    public func signer(for purpose: SigningPurpose) -> Signer {
        Signer(keys: self, purpose: purpose)
    }
}
