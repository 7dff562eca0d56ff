/// The settings `viewers.*`: the request fields with data about the viewer. A trusted proxy sets them, and removes them from requests of clients.
public struct ViewerSettings: Sendable {
    /// The request field that names the viewer; empty if there are no viewers.
    public var header = "X-Viewer-ID"
    /// The request field with the viewer's language; empty for none. It precedes `Accept-Language`.
    public var languageHeader = "X-Viewer-Language"
    /// The request field with attributes of the viewer; empty for none.
    public var attributesHeader = ""

    public init() {}

    /// The configured fields.
    var fields: [String] { [header, languageHeader, attributesHeader].filter { !$0.isEmpty } }

    mutating func read(_ reader: inout SettingsReader) {
        reader.read(
            "viewers.header", &header, allowed: "a field name without another meaning in HTTP, or empty", where: \.isOwnFieldName)
        reader.read("viewers.language-header", &languageHeader, allowed: "a field name, or empty", where: \.isFieldName)
        reader.read("viewers.attributes-header", &attributesHeader, allowed: "a field name, or empty", where: \.isFieldName)
    }
}

extension String {
    /// Standard field names that must not be used for data about the viewer, because requests contain them for other purposes.
    private static let reservedNames: Set<String> = [
        "accept", "accept-encoding", "accept-language", "connection", "content-encoding", "content-length", "content-type", "cookie",
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
