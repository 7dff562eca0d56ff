internal import IntertwinePrimitives

/// The settings of bearer tokens: `viewers.jwt.*` and `admin.jwt.*`.
///
/// ```swift
/// var tokens = TokenSettings()
/// tokens.jwksURL = "https://login.example.com/.well-known/jwks.json"
/// tokens.issuers = ["https://login.example.com"]
/// tokens.audiences = ["feed"]
/// ```
public struct TokenSettings: Sendable {
    static let supportedAlgorithms = SignatureAlgorithm.allCases.map(\.rawValue)

    /// A file with public keys or a shared secret; empty for none.
    public var keysFile = ""
    /// The URL of a JSON Web Key Set; empty for none.
    public var jwksURL = ""
    /// The networks that are allowed for the host of ``jwksURL`` although their addresses are private, in CIDR notation.
    public var allowedNetworks: [String] = []
    /// The interval at which the keys are read again.
    public var refreshInterval: Duration = .seconds(300)
    /// The accepted algorithms: `RS256`, `ES256`, `EdDSA`, `HS256`.
    public var algorithms = ["RS256", "ES256", "EdDSA"]
    /// The accepted issuers (`iss`); empty to accept every issuer whose key is known.
    public var issuers: [String] = []
    /// The names of this service in `aud`; empty to accept tokens without an audience only.
    public var audiences: [String] = []
    /// The accepted difference of clocks.
    public var leeway: Duration = .seconds(30)
    /// The path of the claim that names the sender.
    public var subjectClaim = "sub"

    /// Creates settings with the default values, which verify no tokens.
    public init() {}

    /// A Boolean value indicating whether tokens are verified.
    ///
    /// ```swift
    /// var tokens = TokenSettings()
    /// tokens.isEnabled  // false
    /// tokens.keysFile = "/etc/intertwine/keys.json"
    /// tokens.isEnabled  // true
    /// ```
    public var isEnabled: Bool { !keysFile.isEmpty || !jwksURL.isEmpty }

    package func rules() -> TokenRules? {
        guard let subject = ClaimPath(subjectClaim) else { return nil }
        var rules = TokenRules(subject: subject)
        rules.algorithms = Set(algorithms.compactMap(SignatureAlgorithm.init))
        (rules.issuers, rules.audiences) = (Set(issuers), Set(audiences))
        rules.leeway = leeway.milliseconds
        return rules
    }
}

extension TokenRules {
    package static func isName(_ text: String) -> Bool {
        (1...256).contains(text.unicodeScalars.count) && text != "." && text != ".."
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) && $0 != "\u{FFFD}" }
    }
}
