/// The request fields that the server itself looks at.
enum KnownField: UInt8 {
    case other, acceptEncoding, authorization, connection, contentEncoding, contentLength, contentType, expect, host, ifMatch,
        ifModifiedSince, ifNoneMatch, ifRange, ifUnmodifiedSince, range, requestID, transferEncoding

    /// This field's bit in a set of fields.
    @inline(__always)
    var bit: UInt32 { 1 << UInt32(rawValue) }

    /// Fields that may stand in a request once at most: two of them can not be told from an attack.
    static let singletons: UInt32 =
        authorization.bit | contentLength.bit | contentType.bit | expect.bit | host.bit | ifModifiedSince.bit | ifRange.bit
        | ifUnmodifiedSince.bit | range.bit | transferEncoding.bit

    /// Fields that choose what is answered to a GET of a finished representation.
    static let selectors: UInt32 =
        acceptEncoding.bit | ifMatch.bit | ifModifiedSince.bit | ifNoneMatch.bit | ifUnmodifiedSince.bit | range.bit

    init(_ name: ByteView) {
        let candidate: (KnownField, StaticString)? =
            switch (name.count, name[0].map(\.lowercased), name[3].map(\.lowercased)) {
            case (4, 0x68, _): (.host, "host")
            case (5, 0x72, _): (.range, "range")
            case (6, 0x65, _): (.expect, "expect")
            case (8, 0x69, 0x6D): (.ifMatch, "if-match")
            case (8, 0x69, 0x72): (.ifRange, "if-range")
            case (10, 0x63, _): (.connection, "connection")
            case (12, 0x63, _): (.contentType, "content-type")
            case (12, 0x78, _): (.requestID, "x-request-id")
            case (13, 0x61, _): (.authorization, "authorization")
            case (13, 0x69, _): (.ifNoneMatch, "if-none-match")
            case (14, 0x63, _): (.contentLength, "content-length")
            case (15, 0x61, _): (.acceptEncoding, "accept-encoding")
            case (16, 0x63, _): (.contentEncoding, "content-encoding")
            case (17, 0x74, _): (.transferEncoding, "transfer-encoding")
            case (17, 0x69, _): (.ifModifiedSince, "if-modified-since")
            case (19, 0x69, _): (.ifUnmodifiedSince, "if-unmodified-since")
            default: nil
            }
        if let candidate, name.isEqualIgnoringCase(candidate.1) { self = candidate.0 } else { self = .other }
    }
}
