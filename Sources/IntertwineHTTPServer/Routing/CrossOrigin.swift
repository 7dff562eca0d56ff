internal import HTTPTypes
internal import IntertwinePrimitives

/// A policy for pages of other origins, by the CORS protocol of the Fetch standard.
package struct CORSPolicy: Sendable {
    package static let anyOrigin = "*"

    private static let requestFields = [
        "Accept-Cells", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID", "Range", "X-Request-ID",
        "traceparent", "tracestate",
    ]
    private static let responseFields = [
        "Accept-Ranges", "Age", "Allow", "Cache-Status", "Content-Range", "Deprecation", "ETag", "Image-Error", "Link", "Location",
        "Retry-After", "Sunset", "Vary", "WWW-Authenticate", "X-Request-ID", "X-Verdict",
    ]

    /// The response depends on the origin, even if the request has none: caches need this field.
    private static let vary: HTTPFields = [.vary: "Origin"]

    private let origins: Set<String>
    private let allowsAny: Bool
    private let credentials: Bool
    private let maxAge: Int64
    private var encoded: [(origin: [UInt8], fields: EncodedFields)] = []
    private let others = EncodedFields(Self.vary)

    package init?(origins: [String], credentials: Bool, maxAge: Int64) {
        guard !origins.isEmpty else { return nil }
        self.origins = Set(origins)
        allowsAny = origins.contains(Self.anyOrigin)
        self.credentials = credentials && !allowsAny
        self.maxAge = maxAge
        encoded = (allowsAny ? [Self.anyOrigin] : origins).map { (Array($0.utf8), EncodedFields(fields(for: $0))) }
    }

    func encodedFields(for head: borrowing RequestHead) -> EncodedFields {
        head.withField("origin") { origin in
            for entry in encoded where allowsAny || Self.isEqual(entry.origin, origin) { return entry.fields }
            return others
        } ?? others
    }

    private static func isEqual(_ bytes: [UInt8], _ span: Span<UInt8>) -> Bool {
        guard bytes.count == span.count else { return false }
        for index in bytes.indices where bytes[index] != span[index] { return false }
        return true
    }

    private func fields(for origin: String?) -> HTTPFields {
        guard var fields = permission(for: origin) else { return Self.vary }
        fields[.accessControlExposeHeaders] = Self.responseFields.joined(separator: ", ")
        return fields
    }

    func fields(ofRefusalTo origin: String?) -> HTTPFields {
        fields(for: origin ?? (allowsAny ? Self.anyOrigin : nil))
    }

    func preflight(for origin: String, methods: String, viewerFields: [String]) -> HTTPFields? {
        guard var fields = permission(for: origin) else { return nil }
        fields[.allow] = methods
        fields[.accessControlAllowMethods] = methods
        fields[.accessControlAllowHeaders] = (Self.requestFields + viewerFields).joined(separator: ", ")
        fields[.accessControlMaxAge] = String(maxAge)
        return fields
    }

    func allows(_ origin: String) -> Bool { allowsAny || origins.contains(origin) }

    private func permission(for origin: String?) -> HTTPFields? {
        guard let origin, allows(origin) else { return nil }
        var fields = Self.vary
        fields[.accessControlAllowOrigin] = allowsAny ? Self.anyOrigin : origin
        if credentials { fields[.accessControlAllowCredentials] = "true" }
        return fields
    }
}
