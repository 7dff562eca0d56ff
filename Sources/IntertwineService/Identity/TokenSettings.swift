internal import IntertwineImages
internal import IntertwinePrimitives

/// The settings of bearer tokens: `viewers.jwt.*` and `admin.jwt.*`.
public struct TokenSettings: Sendable, SettingsSection {
    static let supportedAlgorithms = SignatureAlgorithm.allCases.map(\.rawValue)

    private let section: String
    @Setting public var keysFile: String
    @Setting public var jwksURL: String
    @Setting public var allowedNetworks: [String]
    @Setting public var refreshInterval: Duration
    @Setting public var algorithms: [String]
    @Setting public var issuers: [String]
    @Setting public var audiences: [String]
    @Setting public var leeway: Duration

    init(_ section: String) {
        self.section = section
        _keysFile = Setting(
            wrappedValue: "", "\(section).keys-file",
            """
            File with the keys: a JSON Web Key or a set of them, public keys or certificates in PEM, or, if HS256 is the only algorithm, a \
            shared secret of at least 32 characters. It has at most 32 keys. It is read again at the interval.
            """, allowed: "a file's path")
        _jwksURL = Setting(
            wrappedValue: "", "\(section).jwks-url",
            """
            URL of a JSON Web Key Set, usually jwks_uri of the issuer's /.well-known/openid-configuration. The host must have a public \
            address, or one in allowed-networks. Redirects are not followed. An http URL is read from allowed-networks only. A set has at \
            most 32 usable keys and at most 64 members; a larger one is refused as a whole.
            """, allowed: "empty, or an https or http URL", where: { $0.isEmpty || (try? FetchURL($0)) != nil })
        _allowedNetworks = Setting(
            wrappedValue: [], "\(section).allowed-networks", "Networks of the URL's host if it has a private address, such as 10.1.0.0/16.",
            allowed: Network.allowed, where: Network.isValid
        )
        _refreshInterval = Setting(
            wrappedValue: .seconds(300), "\(section).refresh-interval",
            """
            Interval of reads of the keys. A token with an unknown kid causes a read too, at most every 10 s. The last good keys stay \
            valid if a read fails. A set without members revokes all keys.
            """, in: .seconds(10) ... .seconds(86_400))
        let known = Self.supportedAlgorithms
        _algorithms = Setting(
            wrappedValue: ["RS256", "ES256", "EdDSA"], "\(section).algorithms", "Accepted algorithms: RS256, ES256, EdDSA, HS256.",
            allowed: known.joined(separator: ", "), where: { known.contains($0) })
        _issuers = Setting(
            wrappedValue: [], "\(section).issuer", "Accepted issuers (iss). Empty: every issuer that has one of the keys.",
            allowed: "the texts of iss")
        _audiences = Setting(
            wrappedValue: [], "\(section).audience",
            "Names of this service in aud; a token must have one of them. Empty: tokens with an audience are refused.",
            allowed: "the texts of aud")
        _leeway = Setting(
            wrappedValue: .seconds(30), "\(section).leeway", "Accepted difference of clocks for exp and nbf.", in: .zero ... .seconds(600))
    }

    /// A Boolean value indicating whether tokens are verified.
    public var isEnabled: Bool { !keysFile.isEmpty || !jwksURL.isEmpty }

    func rules(subject: String) -> TokenRules? {
        guard let subject = ClaimPath(subject) else { return nil }
        var rules = TokenRules(subject: subject)
        rules.algorithms = Set(algorithms.compactMap(SignatureAlgorithm.init))
        (rules.issuers, rules.audiences) = (Set(issuers), Set(audiences))
        rules.leeway = leeway.milliseconds
        return rules
    }

    func check(_ faults: inout SettingFaults) {
        let known = Self.supportedAlgorithms
        faults.check(!algorithms.isEmpty, "\(section).algorithms: must have at least one of \(known.joined(separator: ", "))")
        faults.check(keysFile.isEmpty || jwksURL.isEmpty, "\(section): keys-file and jwks-url cannot both be set")
        // Keys over http could be those of anyone on the path.
        faults.check(
            !jwksURL.lowercased().hasPrefix("http:") || !allowedNetworks.isEmpty,
            "\(section).jwks-url: an http URL requires allowed-networks; \(jwksURL) is not in a network of yours")
        let url = try? FetchURL(jwksURL)
        faults.check(
            url.map(canRead) ?? true,
            "\(section).jwks-url: a private or local host requires its network in allowed-networks; the host is \(url?.host ?? "")")
        faults.check(
            jwksURL.isEmpty || algorithms != ["HS256"],
            "\(section).algorithms: HS256 requires keys-file, because a published key is no secret")
    }

    /// Records a fault if settings of tokens are set, but no keys. Why: without keys nothing is verified, and such an admin API may be
    /// open.
    func checkKeys(of owner: some SettingsSection, _ faults: inout SettingFaults) {
        let changed = owner.rows.filter { $0.key.hasPrefix("\(section).") && !$0.isDefault }
        let names = changed.map { $0.key.dropFirst(section.count + 1) }.joined(separator: ", ")
        faults.check(
            isEnabled || changed.isEmpty,
            "\(section): keys-file or jwks-url must be set; without keys these settings have no effect: \(names)")
    }

    private func canRead(_ url: FetchURL) -> Bool {
        guard url.isSecure else { return true }
        let policy = AddressPolicy(allowedNetworks: allowedNetworks.compactMap(Network.init), ownAddresses: [])
        let isLocal = url.host == "localhost" || url.host.hasSuffix(".localhost")
        let addresses = isLocal ? ["127.0.0.1", "::1"].compactMap { IPAddress($0) } : [url.address].compactMap { $0 }
        return addresses.isEmpty || addresses.contains(where: policy.permits)
    }
}

extension TokenRules {
    package static func isName(_ text: String) -> Bool {
        (1...256).contains(text.unicodeScalars.count) && text != "." && text != ".."
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) && $0 != "\u{FFFD}" }
    }
}
