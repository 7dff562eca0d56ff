public import IntertwineIdentity

/// The settings `viewers.*`: the request fields and the claims of tokens with data about the viewer.
///
/// A trusted proxy sets the fields, and removes them from requests of clients.
public struct ViewerSettings: Sendable {
    /// The request field that names the viewer; empty if there are no viewers.
    public var header = "X-Viewer-ID"
    /// The request field with the viewer's language; empty for none. It precedes `Accept-Language`.
    public var languageHeader = "X-Viewer-Language"
    /// The request field with attributes of the viewer; empty for none.
    public var attributesHeader = ""
    /// A Boolean value indicating whether requests without a viewer are refused.
    public var isRequired = false
    /// The bearer tokens that name viewers.
    public var jwt = TokenSettings()
    /// The claims that are attributes of the viewer, as `name=path`, or as a path of one name.
    public var attributeClaims: [String] = []

    public init() {}
}
