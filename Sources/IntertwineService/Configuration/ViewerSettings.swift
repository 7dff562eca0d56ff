internal import IntertwineAds
internal import IntertwineDeclarations
internal import IntertwineFetch
internal import IntertwineIdentity
internal import IntertwineSettings

extension ViewerSettings {
    /// The request fields by which responses vary.
    var varyingFields: [String] { [header, jwt.isEnabled ? "Authorization" : ""].filter { !$0.isEmpty } }

    /// All request fields with data about the viewer.
    var fields: [String] { varyingFields + [languageHeader, attributesHeader].filter { !$0.isEmpty } }

    /// A Boolean value indicating whether requests can name a viewer.
    var canBeNamed: Bool { !header.isEmpty || jwt.isEnabled }

    /// A Boolean value indicating whether requests can have attributes of the viewer.
    var canHaveAttributes: Bool { !attributesHeader.isEmpty || jwt.isEnabled && !attributeClaims.isEmpty }

    /// The rules for tokens of viewers; nil if a value is invalid.
    var tokenRules: TokenRules? {
        var rules = jwt.rules()
        rules?.attributes = attributeClaims.compactMap(Self.attribute)
        rules?.isSubject = TokenRules.isName
        return rules
    }

    /// Parses an element of ``attributeClaims``.
    private static func attribute(_ text: String) -> TokenRules.Attribute? {
        let name = text.prefix { $0 != "=" }
        guard ViewerAttributes.isName(name) else { return nil }
        let path = name.endIndex < text.endIndex ? text[text.index(after: name.endIndex)...] : name
        return ClaimPath(String(path)).map { TokenRules.Attribute(name: String(name), path: $0) }
    }

    mutating func read(_ reader: inout SettingsReader) {
        reader.read(
            "viewers.header", &header, allowed: "a field name without another meaning in HTTP, or empty", where: \.isOwnFieldName)
        reader.read("viewers.language-header", &languageHeader, allowed: "a field name, or empty", where: \.isFieldName)
        reader.read("viewers.attributes-header", &attributesHeader, allowed: "a field name, or empty", where: \.isFieldName)
        reader.read("viewers.required", &isRequired)
        jwt.read(&reader, "viewers.jwt", subject: "viewer-claim")
        reader.read(
            "viewers.jwt.attribute-claims", &attributeClaims,
            allowed: "names of claims, or name=path, such as plan or country=address.country", where: { Self.attribute($0) != nil })
        reader.check(!isRequired || canBeNamed, "viewers.required: requires viewers.header, viewers.jwt.keys-file or viewers.jwt.jwks-url")
    }
}

extension TokenSettings {
    /// - Parameters:
    ///   - section: The section of the settings, such as `viewers.jwt`.
    ///   - subject: The name of the setting for ``subjectClaim``.
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
        reader.check(
            jwksURL.isEmpty || algorithms != ["HS256"],
            "\(section).algorithms: HS256 requires keys-file, because a published key is no secret")
    }
}

extension String {
    /// Standard field names that must not be used for data about the viewer, because requests contain them for other purposes.
    private static let reservedNames: Set<String> = [
        "accept", "accept-encoding", "accept-language", "authorization", "connection", "content-encoding", "content-length", "content-type",
        "cookie",
        "date",
        "expect", "host", "if-match", "if-none-match", "if-modified-since", "if-range", "if-unmodified-since", "idempotency-key", "range",
        "te",
        "trailer", "transfer-encoding", "upgrade", "user-agent",
    ]

    /// True if the text contains only letters, digits and hyphens, or is empty.
    fileprivate var isFieldName: Bool { utf8.allSatisfy { $0 == 0x2D || $0.isASCIIAlphanumeric } }

    /// True if the text is a field name and no standard field of HTTP.
    fileprivate var isOwnFieldName: Bool { isFieldName && !Self.reservedNames.contains(lowercased()) }
}

extension UInt8 {
    fileprivate var isASCIIAlphanumeric: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }
}
