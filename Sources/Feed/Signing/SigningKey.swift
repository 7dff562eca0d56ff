import Crypto

/// A secret of 32 bytes that the service signs with.
public struct SigningKey: Sendable, Hashable {
    /// How many bytes a key has.
    public static let length = 32

    let bytes: [UInt8]
    /// Names the key inside what it signed. Derived from the key itself, so replicas that share keys agree on it without configuration.
    let id: UInt32

    /// - Throws: ``SigningKeyError/wrongLength(_:)`` where there are not exactly 32 bytes.
    public init(_ bytes: [UInt8]) throws(SigningKeyError) {
        guard bytes.count == Self.length else { throw .wrongLength(bytes.count) }
        self.init(unchecked: bytes)
    }

    /// A new key from the system's random numbers.
    public static func random() -> SigningKey {
        var generator = SystemRandomNumberGenerator()
        return SigningKey(unchecked: (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
        let code = HMAC<SHA256>.authenticationCode(for: Array("intertwine key id".utf8), using: SymmetricKey(data: bytes))
        id = code.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// Why some bytes are no key.
public enum SigningKeyError: Error, Sendable, Hashable {
    /// So many bytes were given instead of 32.
    case wrongLength(Int)
}
