package import HTTPTypes
internal import IntertwinePrimitives

/// An error for a client (RFC 9457): the cause, without internals of the service.
package struct ProblemDetails: Hashable, Sendable {
    package var type: String
    package var title: String
    package var status: Int
    package var detail: String
    package var instance: String?
    package var errors: [InvalidValue]
    package var members: [UInt8]

    package init(
        type: String = "about:blank", title: String? = nil, status: Int, detail: String, instance: String? = nil,
        errors: [InvalidValue] = [], members: [UInt8] = []
    ) {
        self.type = type
        self.title = title ?? HTTPResponse.Status(code: min(max(status, 100), 599)).phrase
        self.status = status
        self.detail = detail
        self.instance = instance
        self.errors = errors
        self.members = members
    }

    init(_ fault: HTTPParseError) {
        self.init(status: fault.status, detail: fault.detail)
    }

    package static let mediaType = "application/problem+json"

    package var json: [UInt8] {
        var bytes: [UInt8] = []
        Self.append("{", "type", type, to: &bytes)
        Self.append(",", "title", title, to: &bytes)
        bytes += ",\"status\":\(status)".utf8
        Self.append(",", "detail", detail, to: &bytes)
        if let instance { Self.append(",", "instance", instance, to: &bytes) }
        for (index, error) in errors.enumerated() {
            bytes += (index == 0 ? ",\"errors\":[" : ",").utf8
            switch error.location {
            case .parameter(let name): Self.append("{", "parameter", name, to: &bytes)
            case .pointer(let pointer): Self.append("{", "pointer", pointer, to: &bytes)
            }
            Self.append(",", "code", error.code.rawValue, to: &bytes)
            Self.append(",", "detail", error.detail, to: &bytes)
            bytes += "}".utf8
        }
        if !errors.isEmpty { bytes += "]".utf8 }
        if !members.isEmpty { bytes += ",".utf8 + members }
        bytes += "}".utf8
        return bytes
    }

    package func response(fields: HTTPFields = [:]) -> ServerResponse {
        var response = ServerResponse(status: HTTPResponse.Status(code: min(max(status, 200), 599)), fields: fields, body: json)
        response.fields[.contentType] = Self.mediaType
        return response
    }

    private static func append(_ start: String, _ name: String, _ text: String, to bytes: inout [UInt8]) {
        bytes += start.utf8
        bytes.append(jsonString: name)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(jsonString: text)
    }
}

/// An invalid value of a request: its location, a code for programs, and a sentence for people.
package struct InvalidValue: Hashable, Sendable {
    package enum Location: Hashable, Sendable {
        case parameter(String)
        /// A JSON Pointer into the body (RFC 6901).
        case pointer(String)

        package static func body(_ path: some Sequence<String>) -> Location {
            .pointer(path.reduce(into: "") { $0 += "/" + $1.replacing("~", with: "~0").replacing("/", with: "~1") })
        }
    }

    package enum Code: String, CaseIterable, Sendable {
        case required
        case invalid
        case outOfRange = "out-of-range"
        case tooLong = "too-long"
        case tooMany = "too-many"
        case unknown
        case duplicate
        case conflict
    }

    package var location: Location
    package var code: Code
    package var detail: String

    package init(_ location: Location, _ code: Code, _ detail: String) {
        self.location = location
        self.code = code
        self.detail = detail
    }
}
