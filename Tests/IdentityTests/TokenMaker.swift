import Crypto
import CryptoExtras
import Foundation
import IntertwineIdentity
import IntertwinePrimitives
import JWTKit

/// A private key that signs the tokens of tests, with its public key in the forms that the service reads.
struct TokenMaker: Sendable {
    let algorithm: SignatureAlgorithm
    let id: String?
    /// The public key as a JSON Web Key.
    let jwk: String
    let pem: String
    private let signer: any JWTAlgorithm

    /// The time of all tests in milliseconds.
    static let now: Int64 = 1_800_000_000_000

    init(_ algorithm: SignatureAlgorithm, id: String? = nil) async throws {
        (self.algorithm, self.id) = (algorithm, id)
        let collection = JWTKeyCollection()
        let fields: [String: String]
        switch algorithm {
        case .hs256:
            let secret = SymmetricKey(size: .bits256)
            let bytes = secret.withUnsafeBytes { Array($0) }
            fields = ["kty": "oct", "k": Base64URL.encode(bytes)]
            pem = ""
            await collection.add(hmac: HMACKey(key: secret), digestAlgorithm: .sha256)
        case .rs256:
            let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
            let parts = try key.publicKey.getKeyPrimitives()
            fields = ["kty": "RSA", "n": Base64URL.encode(parts.modulus), "e": Base64URL.encode(parts.publicExponent)]
            pem = key.publicKey.pemRepresentation
            await collection.add(rsa: try Insecure.RSA.PrivateKey(backing: key), digestAlgorithm: .sha256)
        case .es256:
            let key = P256.Signing.PrivateKey()
            let point = key.publicKey.rawRepresentation
            fields = [
                "kty": "EC", "crv": "P-256", "x": Base64URL.encode(point.prefix(32)), "y": Base64URL.encode(point.suffix(32)),
            ]
            pem = key.publicKey.pemRepresentation
            await collection.add(ecdsa: try ES256PrivateKey(backing: key))
        case .edDSA:
            let key = Curve25519.Signing.PrivateKey()
            fields = ["kty": "OKP", "crv": "Ed25519", "x": Base64URL.encode(key.publicKey.rawRepresentation)]
            pem = try EdDSA.PublicKey(x: Base64URL.encode(key.publicKey.rawRepresentation), curve: .ed25519).pemRepresentation
            await collection.add(eddsa: EdDSA.PrivateKey(backing: key))
        }
        let members = fields.merging(id.map { ["kid": $0] } ?? [:]) { value, _ in value }
        jwk = "{" + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",") + "}"
        signer = try await collection.getKey()
    }

    /// The public key as the document of a file.
    func document() async throws -> KeyDocument {
        try await KeyDocument(Array(jwk.utf8), origin: .file, algorithms: Set(SignatureAlgorithm.allCases))
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
        return Array((signed + "." + Base64URL.encode(try signer.sign(Array(signed.utf8)))).utf8)
    }

    /// Returns a verifier that accepts the tokens of this key.
    func verifier(entries: Int = 1_000, bytes: Int = 1_000_000, _ change: (inout TokenRules) -> Void = { _ in }) async throws
        -> TokenVerifier
    {
        TokenVerifier(rules: Self.rules(change), keys: TokenKeys([try await document()]), entries: entries, bytes: bytes)
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
