internal import FoundationEssentials
internal import IntertwinePrimitives

/// A signed token in compact form (RFC 7515 section 7.1), split and decoded.
struct CompactToken {
    private struct Header: Decodable {
        private enum CodingKeys: String, CodingKey { case alg, kid, typ, crit }

        var alg: String
        var kid: String?
        var typ: String?
        /// True if the token requires extensions that a recipient must understand (RFC 7515 section 4.1.11).
        var hasExtensions: Bool

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            alg = try container.decode(String.self, forKey: .alg)
            kid = try container.decodeIfPresent(String.self, forKey: .kid)
            typ = try container.decodeIfPresent(String.self, forKey: .typ)
            hasExtensions = container.contains(.crit)
        }
    }

    static let maximumLength = 16_384

    /// The accepted types in lower case: identity tokens and access tokens (RFC 7519 section 5.1, RFC 9068), and tokens in this form
    /// (`JOSE`, RFC 7515 section 4.1.9). Others, such as a logout token, may have the issuer's signature but do not identify a sender (RFC
    /// 8725 section 3.11).
    private static let types: Set<String> = ["jwt", "application/jwt", "at+jwt", "application/at+jwt", "jose", "application/jose"]

    let algorithm: SignatureAlgorithm
    let key: String?
    let payload: [UInt8]
    let signature: [UInt8]
    let signed: ArraySlice<UInt8>

    /// Only the canonical encoding is accepted, so that a token has one spelling.
    init(_ token: [UInt8]) throws(TokenError) {
        guard token.count <= Self.maximumLength else { throw .tooLong }
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { throw .malformed }
        (self.payload, self.signature, signed) = (payload, signature, token[..<parts[1].endIndex])
        guard let members = try? JSONObject(header), members.hasUniqueNames,
            let header = try? JSONDecoder().decode(Header.self, from: Data(header))
        else { throw .malformed }
        guard let algorithm = SignatureAlgorithm(rawValue: header.alg) else { throw .unsupportedAlgorithm }
        guard !header.hasExtensions, header.typ.map({ Self.types.contains($0.lowercased()) }) ?? true else { throw .unsupportedType }
        (self.algorithm, key) = (algorithm, header.kid)
    }
}

extension JSONObject {
    /// True if no two members have one name (RFC 7515 section 4). The decoder would take the first of them, other recipients the last.
    /// Nested objects are not read. Why: anyone can send a header.
    fileprivate var hasUniqueNames: Bool {
        var names: Set<String> = []
        return members.allSatisfy { names.insert(String(decoding: characters(of: $0.name), as: UTF8.self)).inserted }
    }
}
