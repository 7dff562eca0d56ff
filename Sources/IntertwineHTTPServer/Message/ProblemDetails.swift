public import HTTPTypes
internal import IntertwinePrimitives

/// An error as a client sees it (RFC 9457): what went wrong, and nothing of how the service is built.
public struct ProblemDetails: Hashable, Sendable {
    /// A URI that names the kind of problem; `about:blank` where the status says it all.
    public var type: String
    /// The kind of problem in a few words, the same for every occurrence.
    public var title: String
    /// The status of the answer that carries it.
    public var status: Int
    /// What is wrong with this request, in a sentence a client's author can act on.
    public var detail: String

    /// - Parameter title: the status's reason phrase where nil.
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

    /// The JSON object, UTF-8.
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

    /// The answer that carries it.
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
