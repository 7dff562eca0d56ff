package import HTTPTypes
internal import IntertwinePrimitives

/// An error for a client (RFC 9457): the cause, without internals of the service.
///
/// ```swift
/// let problem = ProblemDetails(status: 404, detail: "No item has this id.")
/// problem.title  // "Not Found"
/// let response = problem.response(fields: [.cacheControl: "no-store"])
/// ```
package struct ProblemDetails: Hashable, Sendable {
    /// A URI that identifies the problem type; `about:blank` if the status is sufficient.
    package var type: String
    /// A short name of the problem type, equal for every occurrence.
    package var title: String
    /// The status of the response.
    package var status: Int
    /// A sentence about this occurrence that helps the client's author to correct the request.
    package var detail: String
    /// A URI that identifies this occurrence, such as ``RequestID/urn``; nil if it has none.
    package var instance: String?
    /// The invalid values of the request; empty if the problem has another cause.
    package var errors: [InvalidValue]
    /// Further members of the JSON object (UTF-8), without braces; empty if there are none.
    package var members: [UInt8]

    /// Creates problem details.
    ///
    /// - Parameter title: The title; nil for the reason phrase of the status.
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

    /// The media type of ``json``.
    package static let mediaType = "application/problem+json"

    /// The JSON object as UTF-8.
    ///
    /// ```swift
    /// let problem = ProblemDetails(status: 404, detail: "No item has this id.")
    /// String(decoding: problem.json, as: UTF8.self)
    /// // {"type":"about:blank","title":"Not Found","status":404,"detail":"No item has this id."}
    /// ```
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

    /// Returns a response with this problem as its body.
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
    /// The location of a value in a request.
    package enum Location: Hashable, Sendable {
        /// The name of a query parameter, a path variable or a header field.
        case parameter(String)
        /// A JSON Pointer into the body (RFC 6901). The empty pointer is the whole body.
        case pointer(String)

        /// Returns the location of a value in the body.
        ///
        /// ```swift
        /// let location = InvalidValue.Location.body(["items", "0", "a/b"])
        /// // .pointer("/items/0/a~1b")
        /// ```
        ///
        /// - Parameter path: The names of members and the indices of elements, from the outside in.
        package static func body(_ path: some Sequence<String>) -> Location {
            .pointer(path.reduce(into: "") { $0 += "/" + $1.replacing("~", with: "~0").replacing("/", with: "~1") })
        }
    }

    /// The kinds of faults. The list is closed: a client may handle each of them.
    package enum Code: String, CaseIterable, Sendable {
        /// The value is missing.
        case required
        /// The value has another type or format.
        case invalid
        /// The number, date or text length is below the minimum or above the maximum.
        case outOfRange = "out-of-range"
        /// The text has too many characters or bytes.
        case tooLong = "too-long"
        /// The list has too many elements.
        case tooMany = "too-many"
        /// The name or word is not one of those that exist.
        case unknown
        /// The value occurs more than once.
        case duplicate
        /// The value contradicts another value, or the stored data.
        case conflict
    }

    /// The location of the value.
    package var location: Location
    /// The kind of the fault.
    package var code: Code
    /// One sentence for the developer of the client.
    package var detail: String

    /// Creates the description of an invalid value.
    ///
    /// ```swift
    /// let limit = InvalidValue(.parameter("limit"), .outOfRange, "The limit is 0; allowed: 1 to 100.")
    /// let problem = ProblemDetails(status: 400, detail: "The limit is invalid.", errors: [limit])
    /// ```
    package init(_ location: Location, _ code: Code, _ detail: String) {
        self.location = location
        self.code = code
        self.detail = detail
    }
}
