/// The settings `viewers.*`: the request fields and the claims of tokens with data about the viewer.
///
/// A trusted proxy sets the fields, and removes them from requests of clients.
///
/// ```swift
/// var viewers = ViewerSettings()
/// viewers.header = ""
/// viewers.jwt.jwksURL = "https://login.example.com/jwks.json"
/// viewers.attributeClaims = ["plan", "country=address.country"]
/// ```
public struct ViewerSettings: Sendable {
    /// The request field that names the viewer (`viewers.header`); empty for none. The default is `X-Viewer-ID`.
    public var header = "X-Viewer-ID"
    /// The request field with the viewer's language (`viewers.language-header`); empty for none. It precedes `Accept-Language`.
    ///
    /// The default is `X-Viewer-Language`.
    public var languageHeader = "X-Viewer-Language"
    /// The request field with attributes of the viewer (`viewers.attributes-header`). The default is empty, for none.
    public var attributesHeader = ""
    /// True if requests without a viewer are refused (`viewers.required`). The default is false.
    public var isRequired = false
    /// The rules for bearer tokens that name viewers (`viewers.jwt.*`). Without keys, no token is accepted.
    public var jwt = TokenSettings()
    /// The claims that are attributes of the viewer (`viewers.jwt.attribute-claims`), as `name=path`, or as a path of one name.
    ///
    /// It is empty by default.
    public var attributeClaims: [String] = []

    /// Creates settings with the default values.
    public init() {}
}
