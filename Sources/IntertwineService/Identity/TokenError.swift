package enum TokenError: String, Error, Hashable, Sendable, CaseIterable {
    case tooLong
    case malformed
    case unsupportedAlgorithm
    case unsupportedType
    case unknownKey
    case invalidSignature
    case missingExpiry
    case expired
    case notYetValid
    case unexpectedIssuer
    case unexpectedAudience
    case missingSubject
    case keysUnavailable
    case overloaded

    /// True if the request may succeed later with this token, so that the response is 503 instead of 401.
    var isTemporary: Bool { self == .keysUnavailable || self == .overloaded }

    package var reason: String {
        switch self {
        case .tooLong: "The token is too long."
        case .malformed: "The token is malformed."
        case .unsupportedAlgorithm: "The algorithm of the token is not accepted."
        case .unsupportedType: "The type of the token is not accepted."
        case .unknownKey: "The key of the token is unknown."
        case .invalidSignature: "The signature of the token is invalid."
        case .missingExpiry: "The token has no expiry (exp)."
        case .expired: "The token has expired."
        case .notYetValid: "The token is not valid yet."
        case .unexpectedIssuer: "The issuer of the token is not accepted."
        case .unexpectedAudience: "The audience of the token is not accepted."
        case .missingSubject: "The token has no valid subject."
        case .keysUnavailable: "The keys that verify tokens are not available."
        case .overloaded: "Too many tokens wait for their verification."
        }
    }

    /// The value of `WWW-Authenticate` for a request with this token (RFC 6750 section 3).
    var challenge: String { "Bearer error=\"invalid_token\", error_description=\"\(reason)\"" }

    /// It has no error code (RFC 6750 section 3.1).
    static let missingTokenChallenge = #"Bearer realm="intertwine""#
}
