package import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

/// What pages of other origins are told, after the Fetch standard's CORS protocol.
package struct CORSPolicy: Sendable {
    /// Every origin.
    package static let anyOrigin = "*"

    /// What clients may send besides the fields that need no leave.
    private static let requestFields = [
        "Accept-Cells", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID", "Range", "X-Request-ID",
        "traceparent", "tracestate",
    ]
    /// What clients may read besides the fields that need no leave.
    private static let responseFields = [
        "Accept-Ranges", "Age", "Allow", "Cache-Status", "Content-Range", "Deprecation", "ETag", "Image-Error", "Link", "Location",
        "Retry-After", "Sunset", "Vary", "X-Request-ID", "X-Verdict",
    ]

    /// The answer depends on the origin, whether or not there is one: caches must know.
    package static let vary: HTTPFields = [.vary: "Origin"]

    private let origins: Set<String>
    private let allowsAny: Bool
    private let credentials: Bool
    private let maxAge: Int64
    /// What finished responses carry for each origin, encoded once; a single one if every origin is allowed.
    private var encoded: [(origin: [UInt8], fields: EncodedFields)] = []

    /// Nil where no origin is configured: then answers say nothing of origins.
    ///
    /// - Parameters:
    ///   - credentials: whether pages of the named origins may send cookies; never those of any origin.
    ///   - maxAge: how long a preflight holds, in seconds.
    package init?(origins: [String], credentials: Bool, maxAge: Int64) {
        guard !origins.isEmpty else { return nil }
        self.origins = Set(origins)
        allowsAny = origins.contains(Self.anyOrigin)
        self.credentials = credentials && !allowsAny
        self.maxAge = maxAge
        encoded = (allowsAny ? [Self.anyOrigin] : origins).map { (Array($0.utf8), EncodedFields(fields(for: $0))) }
    }

    /// What a finished response carries for a request of this origin; nil if that is not allowed. The response names `Origin` in `Vary` itself.
    func encodedFields(for origin: Span<UInt8>) -> EncodedFields? {
        for entry in encoded where allowsAny || Self.isEqual(entry.origin, origin) { return entry.fields }
        return nil
    }

    private static func isEqual(_ bytes: [UInt8], _ span: Span<UInt8>) -> Bool {
        guard bytes.count == span.count else { return false }
        for index in bytes.indices where bytes[index] != span[index] { return false }
        return true
    }

    /// What an answer carries for a request of this origin, or of none. One that is not allowed is told nothing.
    func fields(for origin: String?) -> HTTPFields {
        guard var fields = permission(for: origin) else { return Self.vary }
        fields[.accessControlExposeHeaders] = Self.responseFields.joined(separator: ", ")
        return fields
    }

    /// The same where the request may have named an origin that has not been read: it is told what may be told to everyone.
    func fields(ofRefusalTo origin: String?) -> HTTPFields {
        fields(for: origin ?? (allowsAny ? Self.anyOrigin : nil))
    }

    /// The answer to a preflight; nil where the origin is not allowed.
    ///
    /// - Parameters:
    ///   - methods: those that the resource has.
    ///   - viewerFields: the fields that tell of the viewer.
    func preflight(for origin: String, methods: [HTTPRequest.Method], viewerFields: [String]) -> HTTPFields? {
        guard var fields = permission(for: origin) else { return nil }
        let list = methods.map(\.rawValue).joined(separator: ", ")
        fields[.allow] = list
        fields[.accessControlAllowMethods] = list
        fields[.accessControlAllowHeaders] = (Self.requestFields + viewerFields).joined(separator: ", ")
        fields[.accessControlMaxAge] = String(maxAge)
        return fields
    }

    /// Whether pages of the origin may call the service.
    func allows(_ origin: String) -> Bool { allowsAny || origins.contains(origin) }

    private func permission(for origin: String?) -> HTTPFields? {
        guard let origin, allows(origin) else { return nil }
        var fields = Self.vary
        fields[.accessControlAllowOrigin] = allowsAny ? Self.anyOrigin : origin
        if credentials { fields[.accessControlAllowCredentials] = "true" }
        return fields
    }
}
