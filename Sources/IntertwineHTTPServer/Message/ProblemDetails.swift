public import HTTPTypes
internal import IntertwinePrimitives

/// An error for a client (RFC 9457): the cause, without internals of the service.
public struct ProblemDetails: Hashable, Sendable {
    /// A URI that identifies the problem type; `about:blank` if the status is sufficient.
    public var type: String
    /// A short name of the problem type, equal for every occurrence.
    public var title: String
    /// The status of the response.
    public var status: Int
    /// A sentence about this occurrence that helps the client's author to correct the request.
    public var detail: String

    /// Creates problem details.
    ///
    /// - Parameter title: The title; nil for the reason phrase of the status.
    public init(type: String = "about:blank", title: String? = nil, status: Int, detail: String) {
        self.type = type
        self.title = title ?? HTTPResponse.Status(code: min(max(status, 100), 599)).phrase
        self.status = status
        self.detail = detail
    }

    init(_ fault: HTTPParseError) {
        self.init(status: fault.status, detail: fault.detail)
    }

    /// The media type of ``json``.
    public static let mediaType = "application/problem+json"

    /// The JSON object as UTF-8.
    public var json: [UInt8] {
        var text = "{\"type\":"
        Self.append(type, to: &text)
        text += ",\"title\":"
        Self.append(title, to: &text)
        text += ",\"status\":\(status),\"detail\":"
        Self.append(detail, to: &text)
        text += "}"
        return Array(text.utf8)
    }

    /// Returns a response with this problem as its body.
    public func response(fields: HTTPFields = [:]) -> ServerResponse {
        var response = ServerResponse(status: HTTPResponse.Status(code: min(max(status, 200), 599)), fields: fields, body: json)
        response.fields[.contentType] = Self.mediaType
        return response
    }

    private static func append(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\u{0}"..."\u{1F}":
                text += "\\u00" + Hexadecimal.text([UInt8(truncatingIfNeeded: scalar.value)])
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
