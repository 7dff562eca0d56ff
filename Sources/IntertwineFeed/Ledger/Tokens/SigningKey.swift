internal import IntertwinePrimitives

package struct SigningKey: Sendable, Hashable {
    package static let length = 32

    private let bytes: [UInt8]
    package let id: UInt32

    package init(_ bytes: [UInt8]) throws(SigningKeyError) {
        guard bytes.count == Self.length else { throw .wrongLength(bytes.count) }
        self.init(unchecked: bytes)
    }

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
    /// It must not be logged.
    package var hexadecimal: String { Hexadecimal.text(bytes) }

    /// Decodes a key; nil unless the text consists of exactly 64 hexadecimal digits, in either case.
    package init?(hexadecimal text: String) {
        guard let bytes = Hexadecimal.bytes(text) else { return nil }
        try? self.init(bytes)
    }
}

extension SigningKey {
    package func derived(for purpose: SigningPurpose) -> [UInt8] {
        Array(HMACSHA256(key: bytes).code(of: "intertwine/\(purpose.rawValue)/1".utf8))
    }
}

package enum SigningKeyError: Error, Sendable, Hashable {
    case wrongLength(Int)
}

/// The currently valid keys: the one that signs and, during a rotation, its predecessor or its successor.
package struct SigningKeys: Sendable, Hashable {
    package let current: SigningKey
    package let previous: SigningKey?
    /// The next key, which is already accepted, because other replicas may start to sign with it a moment earlier.
    package let next: SigningKey?

    package init(current: SigningKey, previous: SigningKey? = nil, next: SigningKey? = nil) {
        self.current = current
        self.previous = previous
        self.next = next
    }

    package var accepted: [SigningKey] { [current] + [previous, next].compactMap { $0 } }

    package func signer(for purpose: SigningPurpose) -> Signer {
        Signer(keys: self, purpose: purpose)
    }
}

package struct SigningPurpose: Sendable, Hashable, RawRepresentable {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    package static let cursor = SigningPurpose(rawValue: "cursor")
    package static let click = SigningPurpose(rawValue: "click")
    package static let impression = SigningPurpose(rawValue: "impression")
}
