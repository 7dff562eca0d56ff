import Foundation
import TestSupport

@testable import IntertwinePrimitives

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
        let key: PrivateKey?
        switch algorithm {
        case .hs256: (members["kty"], key) = ("oct", nil)
        case .rs256: (members["kty"], key) = ("RSA", try PrivateKey(.rsa))
        case .es256: (members["kty"], members["crv"], key) = ("EC", "P-256", try PrivateKey(.p256))
        case .edDSA: (members["kty"], members["crv"], key) = ("OKP", "Ed25519", try PrivateKey(.ed25519))
        }
        if let key {
            for (name, bytes) in key.members { members[name] = Self.text(Data(bytes)) }
            pem = key.pem
            sign = { Data(try key.signature(of: Array($0))) }
        } else {
            let secret = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
            members["k"] = Self.text(secret)
            pem = ""
            sign = { Self.code(for: $0, secret) }
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
        Data(HMACSHA256(key: Array(key)).code(of: text))
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
