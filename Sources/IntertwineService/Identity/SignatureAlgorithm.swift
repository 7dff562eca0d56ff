/// The signature algorithms of tokens (RFC 7518 section 3.1, RFC 8037). A key verifies the signatures of one of them.
package enum SignatureAlgorithm: String, Sendable, Hashable, CaseIterable {
    case hs256 = "HS256"
    case rs256 = "RS256"
    case es256 = "ES256"
    case edDSA = "EdDSA"
}
