internal import IntertwinePrimitives

package struct KeyDocumentError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The keys of a document: a JSON Web Key, a set of them (RFC 7517), public keys or certificates in PEM, or a shared secret.
package struct KeyDocument: Sendable {
    package enum Origin: Sendable {
        case file
        case remote
    }

    /// The shortest secret for HS256 in bytes (RFC 7518 section 3.2).
    static let shortestSecret = 32

    package let keys: [VerificationKey]
    package let ignored: [String]

    /// A text of any other form is a secret only if HS256 is the sole accepted algorithm. Why: a published key in an unknown form must not
    /// become a secret. The line break at the end of a secret is not part of it.
    /// A set whose members are all unusable is an error. Why: more likely, the accepted algorithms do not match the provider.
    package init(_ bytes: [UInt8], origin: Origin, algorithms: Set<SignatureAlgorithm>) throws(KeyDocumentError) {
        let mark = Array("\u{FEFF}{".utf8)
        let bytes = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count - 1)) : bytes
        let text = String(decoding: bytes, as: UTF8.self)
        let found =
            switch text.first(where: { !$0.isWhitespace }) {
            case "{": try Self.jsonKeys(bytes, origin: origin)
            case "-" where origin == .file: try Self.pemKeys(text)
            case _ where origin == .file && algorithms == [.hs256]: [.success(try Self.secretKey(bytes))] as Found
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

    /// A key in PEM, DER or JSON is refused. Why: if a published key were the secret, everybody could sign tokens with it.
    private static func secretKey(_ bytes: [UInt8]) throws(KeyDocumentError) -> VerificationKey {
        var secret = bytes[...]
        if secret.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == 0x0A || $0 == 0x0D }) {
            while let last = secret.last, last == 0x0A || last == 0x0D { secret.removeLast() }
        }
        let text = String(decoding: secret, as: UTF8.self)
        guard !text.contains("-----BEGIN "), !"{[".contains(text.first { !$0.isWhitespace } ?? " "), !Self.isDER(Array(secret)) else {
            throw KeyDocumentError("is a key in PEM, DER or JSON, not a secret")
        }
        return try VerificationKey(checked: Array(secret), id: nil)
    }

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

    private static func jsonKeys(_ bytes: [UInt8], origin: Origin) throws(KeyDocumentError) -> Found {
        guard (try? JSONObject(bytes)) != nil, let document = (try? JSONValue(json: bytes)).flatMap(JSONMembers.init) else {
            throw KeyDocumentError("is not a JSON Web Key or a set of them")
        }
        let members: [JSONMembers?]
        switch document["keys"] {
        case nil: members = [document]
        case .list(let values): members = values.map(JSONMembers.init)
        default: throw KeyDocumentError("is not a JSON Web Key or a set of them")
        }
        guard members.count <= KeySet.maximumKeys * 2 else { throw KeyDocumentError("has more than \(KeySet.maximumKeys) keys") }
        return members.map { member in
            Result { () throws(KeyDocumentError) in
                guard let member else { throw KeyDocumentError("a member is no object") }
                return try VerificationKey(member, origin: origin)
            }
        }
    }

    private static func pemKeys(_ text: String) throws(KeyDocumentError) -> Found {
        var found: Found = []
        var rest = text[...]
        while let start = rest.firstRange(of: "-----BEGIN ") {
            guard let end = rest[start.upperBound...].firstRange(of: "-----END "),
                let close = rest[end.upperBound...].firstRange(of: "-----")
            else {
                throw KeyDocumentError("has an incomplete PEM block")
            }
            let block = String(rest[start.lowerBound..<close.upperBound])
            found.append(Result { () throws(KeyDocumentError) in try VerificationKey(pem: block) })
            rest = rest[close.upperBound...]
        }
        guard !found.isEmpty else { throw KeyDocumentError("has no keys") }
        return found
    }
}

private struct JSONMembers {
    private let members: [JSONValue.Member]

    init?(_ value: JSONValue) {
        guard case .object(let members) = value, Set(members.map(\.name)).count == members.count else { return nil }
        self.members = members
    }

    subscript(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }

    func text(_ name: String) -> String? { if case .text(let text)? = self[name] { text } else { nil } }

    /// Returns the bytes of a member in base64url without padding (RFC 7518 section 2).
    func bytes(_ name: String) -> [UInt8]? { text(name).flatMap { Base64URL.decode($0.utf8) } }

    func texts(_ name: String) -> [String]? {
        guard case .list(let values)? = self[name] else { return nil }
        let texts = values.compactMap { if case .text(let text) = $0 { text } else { nil } }
        return texts.count == values.count ? texts : nil
    }
}

extension VerificationKey {
    fileprivate convenience init(checked secret: [UInt8], id: String?) throws(KeyDocumentError) {
        guard secret.count >= KeyDocument.shortestSecret else {
            throw KeyDocumentError("is shorter than \(KeyDocument.shortestSecret) bytes, which HS256 requires")
        }
        self.init(secret: secret, id: id)
    }

    fileprivate convenience init(pem: String) throws(KeyDocumentError) {
        guard !pem.contains("PRIVATE KEY-----") else { throw KeyDocumentError("has a private key; verification needs the public key only") }
        guard let key = PublicKey(pem: pem) else {
            throw KeyDocumentError("a PEM block is no public key of RSA (2048 to 8192 bits), P-256 or Ed25519, and no certificate of one")
        }
        self.init(key, id: nil)
    }

    /// Creates a key from a JSON Web Key (RFC 7517).
    fileprivate convenience init(_ jwk: JSONMembers, origin: KeyDocument.Origin) throws(KeyDocumentError) {
        let id = jwk.text("kid")
        let name = id.map { "key '\($0)'" } ?? "a key without kid"
        guard jwk["d"] == nil else { throw KeyDocumentError("\(name) is private; verification needs the public key only") }
        guard jwk.text("use") ?? "sig" == "sig", jwk.texts("key_ops")?.contains("verify") ?? true else {
            throw KeyDocumentError("\(name) is not for signatures")
        }
        let type: SignatureAlgorithm? =
            switch (jwk.text("kty"), jwk.text("crv")) {
            case ("RSA", _): .rs256
            case ("EC", "P-256"): .es256
            case ("OKP", "Ed25519"): .edDSA
            case ("oct", _): .hs256
            default: nil
            }
        guard let type, jwk.text("alg") ?? type.rawValue == type.rawValue else {
            throw KeyDocumentError("\(name) is not for RS256, ES256, EdDSA or HS256")
        }
        func part(_ member: String) throws(KeyDocumentError) -> [UInt8] {
            guard let bytes = jwk.bytes(member) else { throw KeyDocumentError("\(name) has no valid value (\(member))") }
            return bytes
        }
        let key: PublicKey?
        switch type {
        case .rs256: key = PublicKey(modulus: try part("n"), exponent: try part("e"))
        case .es256: key = PublicKey(x: try part("x"), y: try part("y"))
        case .edDSA: key = PublicKey(ed25519: try part("x"))
        case .hs256:
            guard origin == .file else { throw KeyDocumentError("\(name) is a secret, and was published") }
            try self.init(checked: try part("k"), id: id)
            return
        }
        guard let key else { throw KeyDocumentError("\(name) is no valid public key for \(type.rawValue)") }
        self.init(key, id: id)
    }
}
