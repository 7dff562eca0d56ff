public import HTTPTypes

extension ServerResponse {
    /// Creates a response with a text.
    ///
    /// ```swift
    /// let response = ServerResponse(fields: [.cacheControl: "no-store"], body: "Hello")
    /// response.fields[.contentType]  // "text/plain; charset=utf-8"
    /// ```
    ///
    /// - Parameter fields: The fields; without `Content-Type`, the text is `text/plain`.
    public init(status: HTTPResponse.Status = .ok, fields: HTTPFields = [:], body: String) {
        self.init(status: status, fields: fields, body: Array(body.utf8))
        if self.fields[.contentType] == nil { self.fields[.contentType] = "text/plain; charset=utf-8" }
    }

    /// The body; nil if it is in a file or written as it is produced.
    public var bytes: [UInt8]? { if case .content(.bytes(let bytes)) = body { bytes } else { nil } }

    /// Replaces the body, whatever its form. The entity tag and the time of the last modification are removed, because they describe the old one.
    ///
    /// ```swift
    /// var response = ServerResponse(body: "Hello")
    /// response.replaceBody(with: Array("Good morning".utf8))
    /// ```
    public mutating func replaceBody(with bytes: [UInt8]) {
        (body, entityTag, lastModified) = (.content(.bytes(bytes)), nil, nil)
    }
}
