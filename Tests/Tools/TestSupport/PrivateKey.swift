import CIntertwineCrypto
import Foundation

/// A new private key of libcrypto, with which tests sign as another party does.
public final class PrivateKey: Sendable {
    /// A type of key, with the names of the members of its JSON Web Key.
    public enum Kind: String, Sendable, CaseIterable {
        case rsa = "RSA"
        case p256 = "EC"
        case ed25519 = "ED25519"
    }

    /// The reason for which libcrypto made no key or signature.
    public struct Failure: Error {}

    public let kind: Kind
    private nonisolated(unsafe) let key: OpaquePointer

    /// - Parameter bits: The size of an RSA key.
    public init(_ kind: Kind, bits: Int32 = 2_048) throws {
        self.kind = kind
        let context = EVP_PKEY_CTX_new_from_name(nil, kind.rawValue, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var made: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, kind != .rsa || EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) == 1,
            kind != .p256 || EVP_PKEY_CTX_set_group_name(context, "P-256") == 1, EVP_PKEY_generate(context, &made) == 1, let made
        else { throw Failure() }
        key = made
    }

    deinit { EVP_PKEY_free(key) }

    /// Returns a signature in the form of a JSON Web Signature (RS256, ES256, EdDSA).
    public func signature(of message: [UInt8]) throws -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        var count = 0
        guard EVP_DigestSignInit_ex(context, nil, kind == .ed25519 ? nil : "SHA256", nil, nil, key, nil) == 1,
            EVP_DigestSign(context, nil, &count, message, message.count) == 1
        else { throw Failure() }
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else { throw Failure() }
        signature.removeLast(signature.count - count)
        return kind == .p256 ? try Self.numbers(of: signature) : signature
    }

    /// The members of the public key in its JSON Web Key (RFC 7518 section 6, RFC 8037 section 2).
    public var members: [String: [UInt8]] {
        switch kind {
        case .rsa: return ["n": number("n"), "e": number("e")]
        case .p256: return ["x": number("qx", length: 32), "y": number("qy", length: 32)]
        case .ed25519:
            var (bytes, count) = ([UInt8](repeating: 0, count: 32), 32)
            EVP_PKEY_get_raw_public_key(key, &bytes, &count)
            return ["x": bytes]
        }
    }

    /// The public key as a `SubjectPublicKeyInfo` in PEM.
    public var pem: String {
        Self.pem("PUBLIC KEY") { i2d_PUBKEY(key, &$0) }
    }

    /// Returns a certificate in PEM that the key signed itself, and that is valid for an hour.
    public func certificate() throws -> String {
        let certificate = X509_new()
        defer { X509_free(certificate) }
        X509_gmtime_adj(X509_getm_notBefore(certificate), 0)
        X509_gmtime_adj(X509_getm_notAfter(certificate), 3_600)
        let digest = kind == .ed25519 ? nil : EVP_sha256()
        guard X509_set_pubkey(certificate, key) == 1, X509_sign(certificate, key, digest) > 0 else { throw Failure() }
        return Self.pem("CERTIFICATE") { i2d_X509(certificate, &$0) }
    }

    private func number(_ name: String, length: Int32 = 0) -> [UInt8] {
        var number: OpaquePointer?
        EVP_PKEY_get_bn_param(key, name, &number)
        defer { BN_free(number) }
        return Self.bytes(number, max(length, (BN_num_bits(number) + 7) / 8))
    }

    private static func bytes(_ number: OpaquePointer?, _ length: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(length))
        BN_bn2binpad(number, &bytes, length)
        return bytes
    }

    /// Returns both numbers of an ECDSA signature in DER, of 32 bytes each.
    private static func numbers(of der: [UInt8]) throws -> [UInt8] {
        try der.withUnsafeBufferPointer { der in
            var start = der.baseAddress
            guard let pair = d2i_ECDSA_SIG(nil, &start, der.count) else { throw Failure() }
            defer { ECDSA_SIG_free(pair) }
            return bytes(ECDSA_SIG_get0_r(pair), 32) + bytes(ECDSA_SIG_get0_s(pair), 32)
        }
    }

    private static func pem(_ label: String, _ encode: (inout UnsafeMutablePointer<UInt8>?) -> Int32) -> String {
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = encode(&bytes)
        defer { CRYPTO_free(bytes, nil, 0) }
        let text = Data(UnsafeBufferPointer(start: bytes, count: Int(max(0, count)))).base64EncodedString(
            options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(text)\n-----END \(label)-----\n"
    }
}
