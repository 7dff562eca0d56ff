import Foundation
import TestSupport

@testable import IntertwinePrimitives
@testable import IntertwineService

/// A private key that signs the tokens of tests, with its public key in the forms that the service reads.
struct TokenMaker: Sendable {
    let algorithm: SignatureAlgorithm
    let id: String?
    /// The public key as a JSON Web Key.
    let jwk: String
    let pem: String
    private let sign: @Sendable ([UInt8]) throws -> [UInt8]

    /// The time of all tests in milliseconds.
    static let now: Int64 = 1_800_000_000_000

    init(_ algorithm: SignatureAlgorithm, id: String? = nil) throws {
        (self.algorithm, self.id) = (algorithm, id)
        var fields: [String: String]
        let key: PrivateKey?
        switch algorithm {
        case .hs256: (fields, key) = (["kty": "oct"], nil)
        case .rs256: (fields, key) = (["kty": "RSA"], try PrivateKey(.rsa))
        case .es256: (fields, key) = (["kty": "EC", "crv": "P-256"], try PrivateKey(.p256))
        case .edDSA: (fields, key) = (["kty": "OKP", "crv": "Ed25519"], try PrivateKey(.ed25519))
        }
        if let key {
            for (name, bytes) in key.members { fields[name] = Base64URL.encode(bytes) }
            pem = key.pem
            sign = { try key.signature(of: $0) }
        } else {
            let secret = (0..<32).map { _ in UInt8.random(in: 0...255) }
            fields["k"] = Base64URL.encode(secret)
            pem = ""
            sign = { Array(HMACSHA256(key: secret).code(of: $0)) }
        }
        fields["kid"] = id
        jwk = "{" + fields.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",") + "}"
    }

    /// The public key as the document of a file.
    func document() throws -> KeyDocument {
        try KeyDocument(Array(jwk.utf8), origin: .file, algorithms: Set(SignatureAlgorithm.allCases))
    }

    /// Returns a signed token.
    ///
    /// - Parameters:
    ///   - payload: The claims as JSON; nil for a token of `ada` that is valid for an hour.
    ///   - header: The header as JSON; nil for that of the key.
    func token(_ payload: String? = nil, header: String? = nil) throws -> [UInt8] {
        let name = id.map { ",\"kid\":\"\($0)\"" } ?? ""
        let header = header ?? "{\"alg\":\"\(algorithm.rawValue)\",\"typ\":\"JWT\"\(name)}"
        let payload = payload ?? "{\"sub\":\"ada\",\"exp\":\(Self.now / 1_000 + 3_600)}"
        let signed = Base64URL.encode(header.utf8) + "." + Base64URL.encode(payload.utf8)
        return Array((signed + "." + Base64URL.encode(try sign(Array(signed.utf8)))).utf8)
    }

    /// Returns a verifier that accepts the tokens of this key.
    func verifier(entries: Int = 1_000, bytes: Int = 1_000_000, _ change: (inout TokenRules) -> Void = { _ in }) throws
        -> TokenVerifier
    {
        TokenVerifier(rules: Self.rules(change), keys: TokenKeys([try document()]), entries: entries, bytes: bytes)
    }

    static func rules(_ change: (inout TokenRules) -> Void = { _ in }) -> TokenRules {
        guard let subject = ClaimPath("sub") else { preconditionFailure("sub is a path") }
        var rules = TokenRules(subject: subject)
        change(&rules)
        return rules
    }
}

/// Returns the text of claims that are valid for an hour.
///
/// - Parameter more: Further members as JSON, such as `"iss":"a"`.
func claims(_ more: String...) -> String {
    "{" + (["\"sub\":\"ada\"", "\"exp\":\(TokenMaker.now / 1_000 + 3_600)"] + more).joined(separator: ",") + "}"
}

extension TokenVerifier {
    /// Returns the sender of a token from the cache. A span cannot be an operand of an expectation.
    func cached(_ token: [UInt8], now: Int64) -> VerifiedIdentity? { cachedIdentity(of: token.span, now: now) }
}
