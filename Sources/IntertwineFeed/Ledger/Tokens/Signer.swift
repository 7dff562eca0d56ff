internal import IntertwinePrimitives

/// A signer of small values for one purpose: `base64url(key id, payload, HMAC-SHA256 truncated to 128 bits)`.
/// The key of a purpose is derived from the signing key by HMAC over the purpose's name, so purposes never share a key. RFC 2104 section 5
/// allows truncation to half of the digest.
package struct Signer: Sendable {
    private static let idLength = 4
    private static let codeLength = 16
    private static let maximumLength = 4096

    private struct Derived: Sendable {
        var id: UInt32
        var code: HMACSHA256
    }

    private let current: Derived
    private let accepted: [Derived]

    init(keys: SigningKeys, purpose: SigningPurpose) {
        func derive(_ key: SigningKey) -> Derived {
            Derived(id: key.id, code: HMACSHA256(key: key.derived(for: purpose)))
        }
        accepted = keys.accepted.map(derive)
        current = accepted[0]
    }

    package func sign(_ payload: [UInt8]) -> String {
        let length = Self.idLength + payload.count
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: length + Self.codeLength) { text in
            let message = UnsafeMutableRawBufferPointer(text)
            message.storeBytes(of: current.id.bigEndian, as: UInt32.self)
            UnsafeMutableRawBufferPointer(rebasing: message[Self.idLength...]).copyBytes(from: payload)
            let code = current.code.half(of: UnsafeRawBufferPointer(rebasing: message[..<length]))
            withUnsafeBytes(of: code) { UnsafeMutableRawBufferPointer(rebasing: message[length...]).copyMemory(from: $0) }
            return Base64URL.encode(UnsafeBufferPointer(text))
        }
    }

    package func payload(of text: String) -> [UInt8]? {
        guard text.utf8.count <= Self.maximumLength, var message = Base64URL.decode(text.utf8),
            message.count >= Self.idLength + Self.codeLength
        else { return nil }
        let isOurs = message.withUnsafeBytes { message in
            let id = UInt32(bigEndian: message.loadUnaligned(as: UInt32.self))
            let signed = UnsafeRawBufferPointer(rebasing: message.dropLast(Self.codeLength))
            let received = (
                message.loadUnaligned(fromByteOffset: signed.count, as: UInt64.self),
                message.loadUnaligned(fromByteOffset: signed.count + 8, as: UInt64.self)
            )
            return accepted.contains { candidate in
                guard candidate.id == id else { return false }
                let expected = candidate.code.half(of: signed)
                return (expected.0 ^ received.0) | (expected.1 ^ received.1) == 0
            }
        }
        guard isOurs else { return nil }
        message.removeLast(Self.codeLength)
        message.removeFirst(Self.idLength)
        return message
    }
}
