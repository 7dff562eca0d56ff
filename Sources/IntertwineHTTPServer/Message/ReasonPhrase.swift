internal import HTTPTypes

/// The registered reason phrase of a status code (RFC 9110 section 15), for those who only have the code.
enum ReasonPhrase {
    private static let phrases: [Int: String] = {
        let known: [HTTPResponse.Status] = [
            .ok, .created, .accepted, .noContent, .partialContent, .movedPermanently, .found, .seeOther, .notModified, .temporaryRedirect,
            .permanentRedirect, .badRequest, .unauthorized, .forbidden, .notFound, .methodNotAllowed, .notAcceptable, .requestTimeout,
            .conflict, .gone, .lengthRequired, .preconditionFailed, .contentTooLarge, .uriTooLong, .unsupportedMediaType,
            .rangeNotSatisfiable, .expectationFailed, .unprocessableContent, .preconditionRequired, .tooManyRequests,
            .requestHeaderFieldsTooLarge, .internalServerError, .notImplemented, .badGateway, .serviceUnavailable, .gatewayTimeout,
            .httpVersionNotSupported,
        ]
        var phrases = Dictionary(known.map { ($0.code, $0.reasonPhrase) }, uniquingKeysWith: { first, _ in first })
        // RFC 9110, 15.5.20; RFC 4918; RFC 8470; RFC 9110, 15.5.22; RFC 7725; RFC 5842; RFC 6585; RFC 8297.
        let others = [
            103: "Early Hints", 207: "Multi-Status", 208: "Already Reported", 226: "IM Used", 421: "Misdirected Request", 423: "Locked",
            424: "Failed Dependency", 425: "Too Early", 426: "Upgrade Required", 451: "Unavailable For Legal Reasons",
            506: "Variant Also Negotiates", 507: "Insufficient Storage", 511: "Network Authentication Required",
        ]
        phrases.merge(others) { first, _ in first }
        // Not registered; nginx's word for a client that went away before its answer.
        phrases[499] = "Client Closed Request"
        // RFC 5842 section 7.2.
        phrases[508] = "Loop Detected"
        return phrases
    }()

    /// Empty for a code that has none.
    static func of(_ status: HTTPResponse.Status) -> String {
        status.reasonPhrase.isEmpty ? phrases[status.code] ?? "" : status.reasonPhrase
    }
}
