internal import Crypto
internal import FoundationEssentials
internal import IntertwinePrimitives
internal import JWTKit

/// The reason for which a document has no usable keys.
package struct KeyDocumentError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The keys of a document: a JSON Web Key, a set of them (RFC 7517), public keys or certificates in PEM, or a shared secret.
package struct KeyDocument: Sendable {
    /// The party that provides a document.
    package enum Origin: Sendable {
        /// A file of the operator. It may contain symmetric keys (`kty: oct`).
        case file
        /// A document at a URL, which others can read too. Symmetric keys in it are ignored.
        case remote
    }

    /// The shortest secret for HS256 in bytes (RFC 7518 section 3.2).
    package static let shortestSecret = 32

    /// The usable keys; empty only for a set without members.
    package let keys: [VerificationKey]
    /// The reasons for which keys of a set are not used, such as keys for encryption.
    package let ignored: [String]

    /// Reads JSON Web Keys or, from a file, PEM or a shared secret for HS256.
    ///
    /// The algorithm of a key follows from its type: RS256, ES256 (P-256) or EdDSA (Ed25519). Keys of other algorithms and
    /// private keys are ignored.
    ///
    /// A text of any other form is a secret only if HS256 is the sole accepted algorithm. Why: a published key in an unknown form must not
    /// become a secret. The line break at the end of a secret is not part of it.
    ///
    /// A set without members (`{"keys": []}`) is valid: its provider has withdrawn all keys. A set whose members are all unusable is an error. Why:
    /// more likely, the accepted algorithms do not match the provider.
    ///
    /// - Parameter algorithms: The accepted algorithms.
    package init(_ bytes: [UInt8], origin: Origin, algorithms: Set<SignatureAlgorithm>) async throws(KeyDocumentError) {
        let text = String(decoding: bytes, as: UTF8.self)
        let found =
            switch text.first(where: { !$0.isWhitespace }) {
            case "{": try await Self.jsonKeys(bytes, origin: origin)
            case "-" where origin == .file: try await Self.pemKeys(text)
            case _ where origin == .file && algorithms == [.hs256]: [.success(try await Self.secretKey(bytes))] as Found
            default: throw KeyDocumentError(origin == .file ? Self.otherForm : "is not JSON")
            }
        var (keys, ignored): ([VerificationKey], [String]) = ([], [])
        for result in found {
            switch result {
            case .success(let key) where algorithms.contains(key.algorithm): keys.append(key)
            case .success(let key): ignored.append("\(key.algorithm.rawValue) is not an accepted algorithm")
            case .failure(let error): ignored.append(error.description)
            }
        }
        guard keys.count <= KeySet.maximumKeys else { throw KeyDocumentError("has more than \(KeySet.maximumKeys) keys") }
        guard !keys.isEmpty || ignored.isEmpty else {
            throw KeyDocumentError("has no usable keys: \(Set(ignored).sorted().joined(separator: "; "))")
        }
        (self.keys, self.ignored) = (keys, ignored)
    }

    /// Reads a shared secret for HS256.
    ///
    /// A key in PEM, DER or JSON is refused. Why: if a published key were the secret, everybody could sign tokens with it.
    private static func secretKey(_ bytes: [UInt8]) async throws(KeyDocumentError) -> VerificationKey {
        var secret = bytes[...]
        if secret.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == 0x0A || $0 == 0x0D }) {
            while let last = secret.last, last == 0x0A || last == 0x0D { secret.removeLast() }
        }
        let text = String(decoding: secret, as: UTF8.self)
        guard !text.contains("-----BEGIN "), !"{[".contains(text.first { !$0.isWhitespace } ?? " "), !Self.isDER(Array(secret)) else {
            throw KeyDocumentError("is a key in PEM, DER or JSON, not a secret")
        }
        return try await VerificationKey(secret: Array(secret), id: nil)
    }

    /// Returns true if bytes are one ASN.1 sequence in DER, as binary keys are.
    private static func isDER(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 4, bytes[0] == 0x30 else { return false }
        switch bytes[1] {
        case 0x81: return bytes.count == 3 + Int(bytes[2])
        case 0x82: return bytes.count == 4 + Int(bytes[2]) << 8 + Int(bytes[3])
        default: return bytes.count == 2 + Int(bytes[1])
        }
    }

    private static let otherForm = "is neither JSON nor PEM; a shared secret requires HS256 as the only algorithm"

    private typealias Found = [Result<VerificationKey, KeyDocumentError>]

    private static func jsonKeys(_ bytes: [UInt8], origin: Origin) async throws(KeyDocumentError) -> Found {
        let members: [JSONKey?]
        do {
            members = try JSONDecoder().decode(JSONKeys.self, from: Data(bytes)).keys
        } catch {
            throw KeyDocumentError("is not a JSON Web Key or a set of them")
        }
        guard members.count <= KeySet.maximumKeys * 2 else { throw KeyDocumentError("has more than \(KeySet.maximumKeys) keys") }
        var found: Found = []
        for member in members {
            do throws(KeyDocumentError) {
                guard let member else { throw KeyDocumentError("a member is no object") }
                found.append(.success(try await member.key(origin: origin)))
            } catch {
                found.append(.failure(error))
            }
        }
        return found
    }

    /// Splits PEM into its blocks and reads each of them.
    private static func pemKeys(_ text: String) async throws(KeyDocumentError) -> Found {
        var found: Found = []
        var rest = text[...]
        while let start = rest.firstRange(of: "-----BEGIN ") {
            guard let end = rest[start.upperBound...].firstRange(of: "-----END "),
                let close = rest[end.upperBound...].firstRange(of: "-----")
            else {
                throw KeyDocumentError("has an incomplete PEM block")
            }
            let block = String(rest[start.lowerBound..<close.upperBound])
            do throws(KeyDocumentError) {
                found.append(.success(try await VerificationKey(pem: block)))
            } catch {
                found.append(.failure(error))
            }
            rest = rest[close.upperBound...]
        }
        guard !found.isEmpty else { throw KeyDocumentError("has no keys") }
        return found
    }
}

extension VerificationKey {
    /// Creates a key for HS256.
    convenience init(secret: [UInt8], id: String?) async throws(KeyDocumentError) {
        guard secret.count >= KeyDocument.shortestSecret else {
            throw KeyDocumentError("is shorter than \(KeyDocument.shortestSecret) bytes, which HS256 requires")
        }
        let text = SHA256.hash(data: secret).description
        try await self.init(.hs256, id: id, text: text) { await $0.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256) }
    }

    /// Creates a key from a public key or a certificate.
    fileprivate convenience init(pem: String) async throws(KeyDocumentError) {
        guard !pem.contains("PRIVATE KEY-----") else { throw KeyDocumentError("has a private key; verification needs the public key only") }
        let isCertificate = pem.hasPrefix("-----BEGIN CERTIFICATE-----")
        if let key = try? isCertificate ? ES256PublicKey(certificate: pem) : ES256PublicKey(pem: pem) {
            try await self.init(.es256, id: nil, text: key.pemRepresentation) { await $0.add(ecdsa: key) }
        } else if !isCertificate, let key = try? EdDSA.PublicKey(pem: pem) {
            try await self.init(.edDSA, id: nil, text: key.pemRepresentation) { await $0.add(eddsa: key) }
        } else if let key = try? isCertificate ? Insecure.RSA.PublicKey(certificatePEM: pem) : Insecure.RSA.PublicKey(pem: pem) {
            try await self.init(.rs256, id: nil, text: key.pemRepresentation) { await $0.add(rsa: key, digestAlgorithm: .sha256) }
        } else {
            throw KeyDocumentError("a PEM block is no public key of RSA (2048 bits or more), P-256 or Ed25519, and no certificate of one")
        }
    }

    /// Creates the verifier of a key with the library.
    ///
    /// The library's collection is an actor and its verification is asynchronous. Its algorithms verify synchronously, so a
    /// collection is used only to create one.
    fileprivate convenience init(
        _ algorithm: SignatureAlgorithm, id: String?, text: String, _ add: (JWTKeyCollection) async throws -> Void
    ) async throws(KeyDocumentError) {
        do {
            let collection = JWTKeyCollection()
            try await add(collection)
            let verifier = try await collection.getKey()
            guard verifier.name == algorithm.rawValue else { throw KeyDocumentError("a key is not for \(algorithm.rawValue)") }
            self.init(Material(id: id, algorithm: algorithm, text: text), verifier: verifier)
        } catch {
            throw (error as? KeyDocumentError) ?? KeyDocumentError("a key of type \(algorithm.rawValue) is invalid")
        }
    }
}

/// A set of JSON Web Keys, or one key.
private struct JSONKeys: Decodable {
    private enum CodingKeys: String, CodingKey { case keys }

    /// A member of a set; nil if it is no object.
    private struct Member: Decodable {
        var key: JSONKey?

        init(from decoder: any Decoder) { key = try? JSONKey(from: decoder) }
    }

    /// The keys; nil for a member that is no object.
    var keys: [JSONKey?]

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        keys = container.contains(.keys) ? try container.decode([Member].self, forKey: .keys).map(\.key) : [try JSONKey(from: decoder)]
    }
}

/// A JSON Web Key. A member of a set that the library cannot read does not make the set unreadable.
private struct JSONKey: Decodable {
    private enum CodingKeys: String, CodingKey {
        case type = "kty"
        case id = "kid"
        case algorithm = "alg"
        case use, curve = "crv", secret = "k", privatePart = "d", operations = "key_ops"
    }

    private var type: String?
    private var id: String?
    private var algorithm: String?
    private var use: String?
    private var operations: [String]?
    private var curve: String?
    private var secret: String?
    private var isPrivate: Bool
    private var key: JWK?

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ name: CodingKeys) -> String? { try? container.decode(String.self, forKey: name) }
        (type, id, algorithm, use) = (text(.type), text(.id), text(.algorithm), text(.use))
        (curve, secret) = (text(.curve), text(.secret))
        operations = try? container.decode([String].self, forKey: .operations)
        isPrivate = container.contains(.privatePart)
        key = try? JWK(from: decoder)
    }

    func key(origin: KeyDocument.Origin) async throws(KeyDocumentError) -> VerificationKey {
        let name = id.map { "key '\($0)'" } ?? "a key without kid"
        guard !isPrivate else { throw KeyDocumentError("\(name) is private; verification needs the public key only") }
        guard use == nil || use == "sig", operations?.contains("verify") ?? true else {
            throw KeyDocumentError("\(name) is not for signatures")
        }
        guard let type = supported, algorithm == nil || algorithm == type.rawValue else {
            throw KeyDocumentError("\(name) is not for RS256, ES256, EdDSA or HS256")
        }
        if type == .hs256 {
            guard origin == .file else { throw KeyDocumentError("\(name) is a secret, and was published") }
            guard let bytes = secret.flatMap({ Base64URL.decode($0.utf8) }) else {
                throw KeyDocumentError("\(name) has no valid value (k)")
            }
            return try await VerificationKey(secret: bytes, id: id)
        }
        guard var key else { throw KeyDocumentError("\(name) is invalid") }
        key.algorithm = JWK.Algorithm(rawValue: type.rawValue)
        // The collection requires an identifier.
        key.keyIdentifier = JWKIdentifier(string: "")
        let text = [key.modulus, key.exponent, key.x, key.y].map { $0 ?? "" }.joined(separator: " ")
        return try await VerificationKey(type, id: id, text: text) { [key] collection in try await collection.add(jwk: key) }
    }

    /// The algorithm that the type of the key allows.
    private var supported: SignatureAlgorithm? {
        switch (type, curve) {
        case ("RSA", _): .rs256
        case ("EC", "P-256"): .es256
        case ("OKP", "Ed25519"): .edDSA
        case ("oct", _): .hs256
        default: nil
        }
    }
}
