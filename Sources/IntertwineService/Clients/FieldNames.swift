internal import HTTPTypes

/// Field names that swift-http-types does not define.
extension HTTPField.Name {
    private static func known(_ name: String) -> HTTPField.Name {
        guard let known = HTTPField.Name(name) else { preconditionFailure("\(name) is not a token (RFC 9110 section 5.1)") }
        return known
    }

    static let xForwardedFor = known("X-Forwarded-For")
    static let purpose = known("Purpose")
    static let secPurpose = known("Sec-Purpose")
    static let xVerdict = known("X-Verdict")
    static let xRequestID = known("X-Request-ID")
    static let link = known("Link")
    static let acceptCells = known("Accept-Cells")
    static let lastEventID = known("Last-Event-ID")
    static let xAccelBuffering = known("X-Accel-Buffering")
}
