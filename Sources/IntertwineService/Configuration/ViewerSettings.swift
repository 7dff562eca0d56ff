internal import IntertwineFeed
internal import IntertwineImages

/// The settings `viewers.*`: the request fields and the claims of tokens with data about the viewer.
///
/// A trusted proxy sets the fields, and removes them from requests of clients.
///
/// ```swift
/// var configuration = ServiceConfiguration()
/// configuration.viewers.header = ""
/// configuration.viewers.jwt.jwksURL = "https://login.example.com/jwks.json"
/// configuration.viewers.attributeClaims = ["plan", "country=address.country"]
/// ```
public struct ViewerSettings: Sendable, SettingsSection {
    private static let fieldName = "a field name without another meaning, or empty"

    @Setting(
        "viewers.header",
        """
        Field that names the viewer. Empty: there are no viewers, and commands that act for one (dismiss, save) prevent the start. Set it \
        to "" if viewers have tokens (jwt) and no proxy names them.
        """, .reload, allowed: fieldName, where: \.isOwnFieldName)
    public var header = "X-Viewer-ID"
    @Setting(
        "viewers.language-header",
        """
        Field with the viewer's language. It takes precedence over Accept-Language; empty for none. It is read if the file of kinds \
        declares languages.
        """, .reload, allowed: fieldName, where: \.isOwnFieldName)
    public var languageHeader = "X-Viewer-Language"
    @Setting(
        "viewers.attributes-header",
        """
        Field with attributes of the viewer (plan=free, country=DE) for the targeting of campaigns, such as X-Viewer-Attributes; empty for \
        none.
        """, .reload, allowed: fieldName, where: \.isOwnFieldName)
    public var attributesHeader = ""
    @Setting("viewers.required", "true: requests for pages, cells, lists, actions and events that name no viewer get 401.", .reload)
    public var isRequired = false
    /// The rules for bearer tokens that name viewers (`viewers.jwt.*`). Without keys, no token is accepted.
    public var jwt = TokenSettings("viewers.jwt")
    @Setting(
        "viewers.jwt.viewer-claim",
        "Claim with the viewer's name. Names of nested claims are separated by dots; a name with a dot is in double quotes.",
        allowed: ClaimPath.allowed, where: ClaimPath.isValid)
    public var viewerClaim = "sub"
    @Setting(
        "viewers.jwt.attribute-claims",
        """
        Claims that are attributes for the targeting of campaigns: a name such as plan, or a name and a path such as \
        country=address.country.
        """, allowed: "names of claims, or name=path, such as plan or country=address.country", where: { Self.attribute($0) != nil })
    public var attributeClaims: [String] = []

    var varyingFields: [String] { [header, jwt.isEnabled ? "Authorization" : ""].filter { !$0.isEmpty } }

    var fields: [String] { varyingFields + [languageHeader, attributesHeader].filter { !$0.isEmpty } }

    var canBeNamed: Bool { !header.isEmpty || jwt.isEnabled }

    var canHaveAttributes: Bool { !attributesHeader.isEmpty || jwt.isEnabled && !attributeClaims.isEmpty }

    var tokenRules: TokenRules? {
        var rules = jwt.rules(subject: viewerClaim)
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

    func check(_ faults: inout SettingFaults) {
        let names = [header, languageHeader, attributesHeader].filter { !$0.isEmpty }.map { $0.lowercased() }
        faults.check(Set(names).count == names.count, "viewers: header, language-header and attributes-header must be different fields")
        jwt.checkKeys(of: self, &faults)
        faults.check(!isRequired || canBeNamed, "viewers.required: requires viewers.header, viewers.jwt.keys-file or viewers.jwt.jwks-url")
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
