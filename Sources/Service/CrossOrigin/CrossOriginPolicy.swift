internal import HTTPTypes

/// What pages of other origins are told, after the Fetch standard's CORS protocol.
struct CrossOriginPolicy: Sendable {
    /// What clients may send besides the fields that need no leave.
    private static let requestFields = [
        "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Range", "X-Request-ID", "traceparent", "tracestate",
    ]
    /// What clients may read besides the fields that need no leave.
    private static let responseFields = [
        "Accept-Ranges", "Age", "Allow", "Cache-Status", "Content-Range", "ETag", "Image-Error", "Link", "Location", "Retry-After", "Vary",
        "X-Verdict",
    ]

    /// The answer depends on the origin, whether or not there is one: caches must know.
    static let vary: HTTPFields = [.vary: "Origin"]

    private let origins: Set<String>
    private let allowsAny: Bool
    private let credentials: Bool
    private let maxAge: Int64

    /// Nil where no origin is configured: then answers say nothing of origins.
    init?(_ settings: CrossOriginSettings) {
        guard !settings.origins.isEmpty else { return nil }
        origins = Set(settings.origins)
        allowsAny = settings.origins.contains(CrossOriginSettings.anyOrigin)
        credentials = settings.credentials && !allowsAny
        maxAge = settings.maxAge.milliseconds / 1_000
    }

    /// What an answer carries for a request of this origin, or of none. One that is not allowed is told nothing.
    func fields(for origin: String?) -> HTTPFields {
        guard var fields = permission(for: origin) else { return Self.vary }
        fields[.accessControlExposeHeaders] = Self.responseFields.joined(separator: ", ")
        return fields
    }

    /// The answer to a preflight; nil where the origin is not allowed.
    ///
    /// - Parameters:
    ///   - methods: those that the resource has.
    ///   - viewerHeader: the field that names the viewer; empty for none.
    func preflight(for origin: String, methods: [HTTPRequest.Method], viewerHeader: String) -> HTTPFields? {
        guard var fields = permission(for: origin) else { return nil }
        let list = methods.map(\.rawValue).joined(separator: ", ")
        fields[.allow] = list
        fields[.accessControlAllowMethods] = list
        fields[.accessControlAllowHeaders] = (Self.requestFields + (viewerHeader.isEmpty ? [] : [viewerHeader])).joined(separator: ", ")
        fields[.accessControlMaxAge] = String(maxAge)
        return fields
    }

    private func permission(for origin: String?) -> HTTPFields? {
        guard let origin, allowsAny || origins.contains(origin) else { return nil }
        var fields = Self.vary
        fields[.accessControlAllowOrigin] = allowsAny ? CrossOriginSettings.anyOrigin : origin
        if credentials { fields[.accessControlAllowCredentials] = "true" }
        return fields
    }
}
