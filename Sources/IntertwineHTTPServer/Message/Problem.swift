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

    package static let mediaType = "application/problem+json"
    /// The type of problems whose status is sufficient (RFC 9457 section 4.2.1).
    static let plainType = "about:blank"

    package var title: String { kind?.title ?? status.phrase }

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
