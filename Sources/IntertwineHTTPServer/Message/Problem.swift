package import HTTPTypes
internal import IntertwinePrimitives

/// An error that is sent to the client as problem details (RFC 9457).
package struct Problem: Error, Hashable {
    package struct ProblemType: Hashable, Sendable {
        package let rawValue: String
        package let explanation: String

        package init(_ rawValue: String, _ explanation: String) {
            self.rawValue = rawValue
            self.explanation = explanation
        }

        package var uri: String { "/problems/\(rawValue)" }

        package var title: String {
            let words = rawValue.replacing("-", with: " ")
            return words.prefix(1).uppercased() + words.dropFirst()
        }
    }

    package let status: HTTPResponse.Status
    package let kind: ProblemType?
    package let detail: String
    package var errors: [InvalidValue]
    package var fields: HTTPFields
    package var members: [UInt8] = []

    package init(
        _ status: HTTPResponse.Status, _ kind: ProblemType? = nil, _ detail: String, errors: [InvalidValue] = [], fields: HTTPFields = [:]
    ) {
        self.status = status
        self.kind = kind
        self.detail = detail
        self.errors = errors
        self.fields = fields
    }

    package init(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as HTTPParseError: self.init(HTTPResponse.Status(code: error.status), nil, error.detail)
        case let error as any ProblemConvertible: self = error.problem
        case RequestBodyError.tooLarge: self.init(.contentTooLarge, nil, "The body is too long.")
        case RequestBodyError.tooSlow: self.init(.requestTimeout, nil, "The body of the request took too long.")
        case RequestBodyError.outOfMemory:
            self.init(.serviceUnavailable, nil, "Too many request bodies are buffered.", fields: [.retryAfter: "1"])
        case RequestBodyError.incomplete: self.init(.badRequest, nil, "The body is incomplete.")
        case is CancellationError: self.init(.serviceUnavailable, nil, "The request was cancelled.", fields: [.retryAfter: "1"])
        default: self.init(.internalServerError, nil, "An internal error occurred.")
        }
    }

    /// The media type of problem details.
    package static let mediaType = "application/problem+json"
    /// The type of problems whose status is sufficient (RFC 9457 section 4.2.1).
    static let plainType = "about:blank"

    /// A short name of the problem type, equal for every occurrence.
    package var title: String { kind?.title ?? status.phrase }

    /// Returns the JSON object of the problem details as UTF-8.
    package func json(of request: RequestID? = nil) -> [UInt8] {
        var bytes: [UInt8] = []
        Self.append("{", "type", kind?.uri ?? Self.plainType, to: &bytes)
        Self.append(",", "title", title, to: &bytes)
        bytes += ",\"status\":\(status.code)".utf8
        Self.append(",", "detail", detail, to: &bytes)
        if let request { Self.append(",", "instance", request.urn, to: &bytes) }
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

    private static func append(_ start: String, _ name: String, _ text: String, to bytes: inout [UInt8]) {
        bytes += start.utf8
        bytes.append(jsonString: name)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(jsonString: text)
    }

    /// Returns the response without a field for caches.
    package func refusal(of request: RequestID? = nil) -> ServerResponse {
        var response = ServerResponse(status: status, fields: fields, body: json(of: request))
        response.fields[.contentType] = Self.mediaType
        return response
    }

    /// Returns the response, which caches must not store.
    package func response(to request: RequestID? = nil) -> ServerResponse {
        var response = refusal(of: request)
        response.fields[.cacheControl] = "no-store"
        return response
    }
}

package protocol ProblemConvertible: Error {
    var problem: Problem { get }
}

extension Problem.ProblemType {
    fileprivate static let invalidParameter = Problem.ProblemType(
        "invalid-parameter",
        "A query parameter, a path variable or a header field is invalid. The member errors names each of them. Correct the request; the same "
            + "request fails again.")
    fileprivate static let invalidBody = Problem.ProblemType(
        "invalid-body",
        "The body is not valid input of the operation. The member errors has a JSON Pointer (RFC 6901) to each invalid value. The empty "
            + "pointer is the whole body. Correct the request; the same request fails again.")
    package static let invalidCursor = Problem.ProblemType(
        "invalid-cursor",
        "The cursor was changed, belongs to another list, or was signed with a key that is no longer valid. Load the first page again.")
    package static let storeUnavailable = Problem.ProblemType(
        "store-unavailable",
        "The store or the ledger does not respond, or too many requests wait for it. Nothing was changed. Retry after the seconds in "
            + "Retry-After.")
}

// MARK: Invalid values

extension Problem {
    package static func invalidParameter(_ name: String, _ code: InvalidValue.Code, _ detail: String) -> Problem {
        Problem(.badRequest, .invalidParameter, detail, errors: [InvalidValue(.parameter(name), code, detail)])
    }

    package static func invalidParameters(_ names: [String], _ code: InvalidValue.Code, _ detail: String) -> Problem {
        Problem(.badRequest, .invalidParameter, detail, errors: names.map { InvalidValue(.parameter($0), code, detail) })
    }

    package static func invalidBody(
        at pointer: String, _ code: InvalidValue.Code, _ detail: String, status: HTTPResponse.Status = .badRequest
    ) -> Problem {
        Problem(status, .invalidBody, detail, errors: [InvalidValue(.pointer(pointer), code, detail)])
    }

    package static func invalidBody(
        _ detail: String, _ errors: [InvalidValue], status: HTTPResponse.Status = .badRequest
    ) -> Problem {
        Problem(
            status, .invalidBody, detail,
            errors: errors.isEmpty ? [InvalidValue(.pointer(""), .invalid, detail)] : errors)
    }

    package func naming(_ parameter: String, _ code: InvalidValue.Code) -> Problem {
        var problem = self
        problem.errors = [InvalidValue(.parameter(parameter), code, detail)]
        return problem
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
    /// ```
    package init(_ location: Location, _ code: Code, _ detail: String) {
        self.location = location
        self.code = code
        self.detail = detail
    }
}
