package import HTTPTypes

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

    package func details(of request: RequestID? = nil) -> ProblemDetails {
        ProblemDetails(
            type: kind?.uri ?? ProblemDetails.plainType, title: kind?.title, status: status.code, detail: detail, instance: request?.urn,
            errors: errors, members: members)
    }

    package func response(to request: RequestID? = nil) -> ServerResponse {
        var fields = fields
        fields[.cacheControl] = "no-store"
        return details(of: request).response(fields: fields)
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
