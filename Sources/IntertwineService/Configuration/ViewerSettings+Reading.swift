internal import IntertwineFeed
internal import IntertwineImages

extension ViewerSettings {
    var varyingFields: [String] { [header, jwt.isEnabled ? "Authorization" : ""].filter { !$0.isEmpty } }

    var fields: [String] { varyingFields + [languageHeader, attributesHeader].filter { !$0.isEmpty } }

    var canBeNamed: Bool { !header.isEmpty || jwt.isEnabled }

    var canHaveAttributes: Bool { !attributesHeader.isEmpty || jwt.isEnabled && !attributeClaims.isEmpty }

    var tokenRules: TokenRules? {
        var rules = jwt.rules()
        rules?.attributes = attributeClaims.compactMap(Self.attribute)
        rules?.isSubject = TokenRules.isName
        return rules
    }

    private static func attribute(_ text: String) -> TokenRules.Attribute? {
        let name = text.prefix { $0 != "=" }
        guard ViewerAttributes.isName(name) else { return nil }
        let path = name.endIndex < text.endIndex ? text[text.index(after: name.endIndex)...] : name
        return ClaimPath(String(path)).map { TokenRules.Attribute(name: String(name), path: $0) }
    }

    mutating func read(_ reader: inout SettingsReader) {
        let allowed = "a field name without another meaning, or empty"
        reader.read("viewers.header", &header, allowed: allowed, where: \.isOwnFieldName)
        reader.read("viewers.language-header", &languageHeader, allowed: allowed, where: \.isOwnFieldName)
        reader.read("viewers.attributes-header", &attributesHeader, allowed: allowed, where: \.isOwnFieldName)
        let names = [header, languageHeader, attributesHeader].filter { !$0.isEmpty }.map { $0.lowercased() }
        reader.check(Set(names).count == names.count, "viewers: header, language-header and attributes-header must be different fields")
        reader.read("viewers.required", &isRequired)
        readTokens(&reader)
        var (unset, defaults) = (ViewerSettings(), SettingsReader(nil))
        unset.readTokens(&defaults)
        jwt.checkKeys(&reader, "viewers.jwt", defaults: defaults)
        reader.check(!isRequired || canBeNamed, "viewers.required: requires viewers.header, viewers.jwt.keys-file or viewers.jwt.jwks-url")
    }

    private mutating func readTokens(_ reader: inout SettingsReader) {
        jwt.read(&reader, "viewers.jwt", subject: "viewer-claim")
        reader.read(
            "viewers.jwt.attribute-claims", &attributeClaims,
            allowed: "names of claims, or name=path, such as plan or country=address.country", where: { Self.attribute($0) != nil })
    }
}

extension TokenSettings {
    mutating func read(_ reader: inout SettingsReader, _ section: String, subject: String) {
        reader.read("\(section).keys-file", &keysFile, allowed: "a file's path")
        reader.read(
            "\(section).jwks-url", &jwksURL, allowed: "empty, or an https or http URL", where: { $0.isEmpty || (try? FetchURL($0)) != nil })
        reader.read(
            "\(section).allowed-networks", &allowedNetworks, allowed: "networks such as 10.1.0.0/16 or fd00::/8",
            where: { Network($0) != nil })
        reader.read("\(section).refresh-interval", &refreshInterval, in: .seconds(10) ... .seconds(86_400))
        let known = Self.supportedAlgorithms
        reader.read("\(section).algorithms", &algorithms, allowed: known.joined(separator: ", "), where: { known.contains($0) })
        reader.read("\(section).issuer", &issuers, allowed: "the texts of iss")
        reader.read("\(section).audience", &audiences, allowed: "the texts of aud")
        reader.read("\(section).leeway", &leeway, in: .zero ... .seconds(600))
        reader.read("\(section).\(subject)", &subjectClaim, allowed: ClaimPath.allowed, where: { ClaimPath($0) != nil })
        reader.check(!algorithms.isEmpty, "\(section).algorithms: must have at least one of \(known.joined(separator: ", "))")
        reader.check(keysFile.isEmpty || jwksURL.isEmpty, "\(section): keys-file and jwks-url cannot both be set")
        // Keys over http could be those of anyone on the path.
        reader.check(
            !jwksURL.lowercased().hasPrefix("http:") || !allowedNetworks.isEmpty,
            "\(section).jwks-url: an http URL requires allowed-networks; \(jwksURL) is not in a network of yours")
        let url = try? FetchURL(jwksURL)
        reader.check(
            url.map(canRead) ?? true,
            "\(section).jwks-url: a private or local host requires its network in allowed-networks; the host is \(url?.host ?? "")")
        reader.check(
            jwksURL.isEmpty || algorithms != ["HS256"],
            "\(section).algorithms: HS256 requires keys-file, because a published key is no secret")
    }

    /// Records a fault if settings of tokens are set, but no keys. Why: without keys nothing is verified, and such an admin API may be
    /// open.
    func checkKeys(_ reader: inout SettingsReader, _ section: String, defaults: SettingsReader) {
        let values = Dictionary(defaults.settings.map { ($0.key, $0.value) }) { $1 }
        let changed = reader.settings.filter { $0.key.hasPrefix("\(section).") && $0.value != values[$0.key] }
        let names = changed.map { $0.key.dropFirst(section.count + 1) }.joined(separator: ", ")
        reader.check(
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

extension String {
    /// Field names that must not be used for data about the viewer, because requests contain them for other purposes.
    private static let reservedNames: Set<String> = [
        "accept", "accept-cells", "accept-encoding", "accept-language", "access-control-request-headers", "access-control-request-method",
        "authorization", "cache-control", "connection", "content-encoding", "content-length", "content-type", "cookie", "date", "dnt",
        "expect", "forwarded", "host", "idempotency-key", "if-match", "if-modified-since", "if-none-match", "if-range",
        "if-unmodified-since", "last-event-id", "origin", "pragma", "proxy-authorization", "purpose", "range", "referer", "sec-fetch-dest",
        "sec-fetch-mode", "sec-fetch-site", "sec-gpc", "sec-purpose", "te", "traceparent", "tracestate", "trailer", "transfer-encoding",
        "upgrade", "user-agent", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-moz", "x-purpose", "x-real-ip",
        "x-request-id",
    ]

    fileprivate var isFieldName: Bool { utf8.allSatisfy { $0 == 0x2D || $0.isASCIIAlphanumeric } }

    fileprivate var isOwnFieldName: Bool { isFieldName && !Self.reservedNames.contains(lowercased()) }
}

extension UInt8 {
    fileprivate var isASCIIAlphanumeric: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }
}
