internal import IntertwinePrimitives

/// A secret of 32 bytes with which the service signs.
package struct SigningKey: Sendable, Hashable {
    /// The number of bytes of a key.
    package static let length = 32

    private let bytes: [UInt8]
    /// The id of the key in signed values. It is derived from the key, so replicas that share keys agree on it without configuration.
    package let id: UInt32

    /// Creates a key.
    ///
    /// - Throws: ``SigningKeyError/wrongLength(_:)`` unless there are exactly 32 bytes.
    package init(_ bytes: [UInt8]) throws(SigningKeyError) {
        guard bytes.count == Self.length else { throw .wrongLength(bytes.count) }
        self.init(unchecked: bytes)
    }

    /// Returns a new key from the system's random number generator.
    ///
    /// ```swift
    /// let key = SigningKey.random()
    /// key.hexadecimal.count  // 64
    /// ```
    package static func random() -> SigningKey {
        var generator = SystemRandomNumberGenerator()
        // The generator is called once for each 8-byte word.
        return SigningKey(unchecked: (0..<length / 8).flatMap { _ in withUnsafeBytes(of: generator.next(), Array.init) })
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
        let code = HMACSHA256(key: bytes).code(of: "intertwine key id".utf8)
        id = UInt32(bigEndianBytes: code.prefix(4))
    }
}

extension SigningKey {
    /// The key as 64 hexadecimal digits, for a file or a secret store. It must not be logged.
    package var hexadecimal: String { Hexadecimal.text(bytes) }

    /// Decodes a key; nil unless the text consists of exactly 64 hexadecimal digits, in either case.
    ///
    /// ```swift
    /// let text = String(repeating: "0f", count: 32)
    /// guard let key = SigningKey(hexadecimal: text) else { return }
    /// let keys = SigningKeys(current: key)
    /// ```
    package init?(hexadecimal text: String) {
        guard let bytes = Hexadecimal.bytes(text) else { return nil }
        try? self.init(bytes)
    }
}

extension SigningKey {
    /// Returns a key for one purpose. With it, values of other purposes can neither be signed nor verified.
    ///
    /// The key is an HMAC-SHA256 over the purpose's name, 32 bytes.
    package func derived(for purpose: SigningPurpose) -> [UInt8] {
        Array(HMACSHA256(key: bytes).code(of: "intertwine/\(purpose.rawValue)/1".utf8))
    }
}

/// A reason why bytes are not a valid key.
package enum SigningKeyError: Error, Sendable, Hashable {
    /// The number of bytes is not 32.
    case wrongLength(Int)
}

/// The currently valid keys: the one that signs and, during a rotation, its predecessor or its successor.
///
/// ```swift
/// let (new, old) = (SigningKey.random(), SigningKey.random())
/// let keys = SigningKeys(current: new, previous: old)
/// keys.accepted  // [new, old]
/// ```
package struct SigningKeys: Sendable, Hashable {
    /// The key that signs.
    package let current: SigningKey
    /// The previous key, which is still accepted but no longer signs.
    package let previous: SigningKey?
    /// The next key, which is already accepted, because other replicas may start to sign with it a moment earlier.
    package let next: SigningKey?

    /// Creates a set of keys. Without a previous and a next key, no rotation is in progress.
    package init(current: SigningKey, previous: SigningKey? = nil, next: SigningKey? = nil) {
        self.current = current
        self.previous = previous
        self.next = next
    }

    /// All accepted keys, the signing one first.
    package var accepted: [SigningKey] { [current] + [previous, next].compactMap { $0 } }

    /// Returns a signer for one purpose.
    package func signer(for purpose: SigningPurpose) -> Signer {
        Signer(keys: self, purpose: purpose)
    }
}

/// The purpose of a signature. A value signed for one purpose is invalid for every other.
package struct SigningPurpose: Sendable, Hashable, RawRepresentable {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The cursor of a page.
    package static let cursor = SigningPurpose(rawValue: "cursor")
    /// A clickthrough link.
    package static let click = SigningPurpose(rawValue: "click")
    /// The token with which a client reports an impression.
    package static let impression = SigningPurpose(rawValue: "impression")
}
