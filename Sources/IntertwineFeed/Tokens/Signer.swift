import Crypto
internal import IntertwinePrimitives

/// Signs small values for one purpose, and checks them: `base64url(key id, payload, HMAC-SHA256 truncated to 128 bits)`.
///
/// The key of a purpose is derived from the signing key by HMAC over the purpose's name, so purposes never share a key. RFC 2104 section 5
/// allows truncation down to half of the digest.
package struct Signer: Sendable {
    private static let idLength = 4
    private static let codeLength = 16
    /// Longer texts are refused unread; nothing we sign comes near it.
    private static let maximumLength = 4096

    private struct Derived: Sendable {
        var id: UInt32
        /// The key hashed already: each code begins with a copy.
        var prepared: HMAC<SHA256>

        func code(of message: ArraySlice<UInt8>) -> HMAC<SHA256>.MAC {
            var code = prepared
            code.update(data: message)
            return code.finalize()
        }
    }

    private let current: Derived
    private let accepted: [Derived]

    init(keys: SigningKeys, purpose: SigningPurpose) {
        func derive(_ key: SigningKey) -> Derived {
            Derived(id: key.id, prepared: HMAC<SHA256>(key: key.derived(for: purpose)))
        }
        current = derive(keys.current)
        accepted = [current] + (keys.previous.map { [derive($0)] } ?? [])
    }

    /// The signed text: characters of base64url alone, the same for the same payload and key.
    package func sign(_ payload: [UInt8]) -> String {
        var message: [UInt8] = []
        message.reserveCapacity(Self.idLength + payload.count + Self.codeLength)
        for shift: UInt32 in [24, 16, 8, 0] { message.append(UInt8(truncatingIfNeeded: current.id >> shift)) }
        message += payload
        current.code(of: message[...]).withUnsafeBytes { message.append(contentsOf: $0.prefix(Self.codeLength)) }
        return Base64URL.encode(message)
    }

    /// The payload, or nil where the text is damaged, or signed by another key or for another purpose.
    ///
    /// The code is compared in constant time.
    package func payload(of text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count <= Self.maximumLength, let message = Base64URL.decode(text.utf8),
            message.count >= Self.idLength + Self.codeLength
        else { return nil }
        let id = UInt32(bigEndianBytes: message.prefix(Self.idLength))
        let signed = message.dropLast(Self.codeLength)
        let given = message.suffix(Self.codeLength)
        for candidate in accepted where candidate.id == id {
            let expected = candidate.code(of: signed)
            var difference: UInt8 = 0
            for (expected, given) in zip(expected.prefix(Self.codeLength), given) { difference |= expected ^ given }
            if difference == 0 { return Array(signed.dropFirst(Self.idLength)) }
        }
        return nil
    }
}
