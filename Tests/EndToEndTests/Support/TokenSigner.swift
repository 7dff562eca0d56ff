import Crypto
import CryptoExtras
import Foundation

/// A private key that signs JSON Web Tokens.
struct TokenSigner {
    enum Algorithm: String, CaseIterable {
        case hs256 = "HS256"
        case rs256 = "RS256"
        case es256 = "ES256"
        case edDSA = "EdDSA"
    }

    let algorithm: Algorithm
    let id: String?
    /// The public key, or the secret, as a JSON Web Key.
    let jwk: String
    /// The public key in PEM; empty for a secret.
    let pem: String
    private let sign: (Data) throws -> Data

    init(_ algorithm: Algorithm, id: String? = nil) throws {
        (self.algorithm, self.id) = (algorithm, id)
        var members = ["alg": algorithm.rawValue]
        members["kid"] = id
        switch algorithm {
        case .hs256:
            let key = SymmetricKey(size: .bits256)
            members.merge(["kty": "oct", "k": key.withUnsafeBytes { Self.text(Data($0)) }]) { $1 }
            pem = ""
            sign = { Data(HMAC<SHA256>.authenticationCode(for: $0, using: key)) }
        case .rs256:
            let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
            let parts = try key.publicKey.getKeyPrimitives()
            members.merge(["kty": "RSA", "n": Self.text(parts.modulus), "e": Self.text(parts.publicExponent)]) { $1 }
            pem = key.publicKey.pemRepresentation
            sign = { try key.signature(for: $0, padding: .insecurePKCS1v1_5).rawRepresentation }
        case .es256:
            let key = P256.Signing.PrivateKey()
            let point = key.publicKey.rawRepresentation
            members.merge(["kty": "EC", "crv": "P-256", "x": Self.text(point.prefix(32)), "y": Self.text(point.suffix(32))]) { $1 }
            pem = key.publicKey.pemRepresentation
            sign = { try key.signature(for: $0).rawRepresentation }
        case .edDSA:
            let key = Curve25519.Signing.PrivateKey()
            members.merge(["kty": "OKP", "crv": "Ed25519", "x": Self.text(key.publicKey.rawRepresentation)]) { $1 }
            // The prefix of an Ed25519 key in the form of RFC 8410 section 4.
            let der = Data([0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00]) + key.publicKey.rawRepresentation
            pem = "-----BEGIN PUBLIC KEY-----\n\(der.base64EncodedString())\n-----END PUBLIC KEY-----\n"
            sign = { try key.signature(for: $0) }
        }
        jwk = String(decoding: try JSONSerialization.data(withJSONObject: members, options: .sortedKeys), as: UTF8.self)
    }

    /// Returns a token that is valid for an hour unless `claims` has another `exp`.
    func token(_ subject: String, _ claims: [String: Any] = [:], header: [String: Any] = [:]) throws -> String {
        var payload: [String: Any] = ["sub": subject, "exp": Int(Date().timeIntervalSince1970) + 3_600]
        payload.merge(claims) { $1 }
        var parameters: [String: Any] = ["alg": algorithm.rawValue, "typ": "JWT"]
        parameters["kid"] = id
        parameters.merge(header) { $1 }
        let parts = try [parameters, payload.filter { !($0.value is NSNull) }].map {
            Self.text(try JSONSerialization.data(withJSONObject: $0, options: .sortedKeys))
        }
        let signed = parts.joined(separator: ".")
        return signed + "." + Self.text(try sign(Data(signed.utf8)))
    }

    /// Returns the fields of a request with a token of a subject.
    func fields(_ subject: String, _ claims: [String: Any] = [:]) throws -> [String] {
        Self.fields(try token(subject, claims))
    }

    static func fields(_ token: String) -> [String] { ["User-Agent: tests", "Authorization: Bearer \(token)"] }

    /// Returns a set with the public keys of signers.
    static func keySet(_ signers: [TokenSigner]) -> String { "{\"keys\":[\(signers.map(\.jwk).joined(separator: ","))]}" }

    /// Returns the HMAC of a text with any key, as an attacker computes it.
    static func code(for text: Data, _ key: Data) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: key)))
    }

    static func text(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Writes a file that is removed with the folder of temporary files.
    static func file(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-keys-\(UUID())").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }
}
