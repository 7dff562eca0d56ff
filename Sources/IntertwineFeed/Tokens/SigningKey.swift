package import Crypto
internal import IntertwinePrimitives

/// A secret of 32 bytes that the service signs with.
public struct SigningKey: Sendable, Hashable {
    /// How many bytes a key has.
    public static let length = 32

    private let bytes: [UInt8]
    /// Names the key inside what it signed. Derived from the key itself, so replicas that share keys agree on it without configuration.
    package let id: UInt32

    /// - Throws: ``SigningKeyError/wrongLength(_:)`` where there are not exactly 32 bytes.
    public init(_ bytes: [UInt8]) throws(SigningKeyError) {
        guard bytes.count == Self.length else { throw .wrongLength(bytes.count) }
        self.init(unchecked: bytes)
    }

    /// A new key from the system's random numbers.
    public static func random() -> SigningKey {
        var generator = SystemRandomNumberGenerator()
        // Word by word: the system is asked for each.
        return SigningKey(unchecked: (0..<length / 8).flatMap { _ in withUnsafeBytes(of: generator.next(), Array.init) })
    }

    private init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
        let code = HMAC<SHA256>.authenticationCode(for: Array("intertwine key id".utf8), using: SymmetricKey(data: bytes))
        id = UInt32(bigEndianBytes: code.prefix(4))
    }
}

extension SigningKey {
    /// The key as 64 hexadecimal digits: for a file or a secret's store, never for a log.
    public var hexadecimal: String { Hexadecimal.text(bytes) }

    /// Nil where the text is not exactly 64 hexadecimal digits, in either case.
    public init?(hexadecimal text: String) {
        guard let bytes = Hexadecimal.bytes(text) else { return nil }
        try? self.init(bytes)
    }
}

extension SigningKey {
    /// A key for one purpose, made of this one: what knows it can neither make nor check values of another purpose.
    ///
    /// HMAC-SHA256 over the purpose's name, 32 bytes.
    package func derived(for purpose: SigningPurpose) -> SymmetricKey {
        let label = Array("intertwine/\(purpose.rawValue)/1".utf8)
        return SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: label, using: SymmetricKey(data: bytes)))
    }
}

/// Why some bytes are no key.
public enum SigningKeyError: Error, Sendable, Hashable {
    /// So many bytes were given instead of 32.
    case wrongLength(Int)
}

/// The keys that are valid now: the one that signs, and before a rotation is over the one that signed until then, or the one that is about
/// to.
public struct SigningKeys: Sendable, Hashable {
    public let current: SigningKey
    /// Still accepted, no longer used for signing.
    public let previous: SigningKey?
    /// Accepted already, as other replicas may begin to sign with it a moment before this one.
    public let next: SigningKey?

    public init(current: SigningKey, previous: SigningKey? = nil, next: SigningKey? = nil) {
        self.current = current
        self.previous = previous
        self.next = next
    }

    /// All that are accepted, the one that signs first.
    public var accepted: [SigningKey] { [current] + [previous, next].compactMap { $0 } }

    /// What signs and checks values of one purpose.
    package func signer(for purpose: SigningPurpose) -> Signer {
        Signer(keys: self, purpose: purpose)
    }
}

/// What a signature is for. A value signed for one purpose is forged for every other.
package struct SigningPurpose: Sendable, Hashable, RawRepresentable {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Where a page starts.
    package static let cursor = SigningPurpose(rawValue: "cursor")
    /// A clickthrough link.
    package static let click = SigningPurpose(rawValue: "click")
    /// The permission to report that a cell was seen.
    package static let impression = SigningPurpose(rawValue: "impression")
}
