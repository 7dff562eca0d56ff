package import HTTPTypes
package import IntertwineHTTPServer

/// An error that is sent to the client as problem details (RFC 9457).
package struct Problem: Error, Hashable {
    /// The problem types that clients can distinguish by `type`. A problem whose status is sufficient has none.
    package struct ProblemType: Hashable, Sendable {
        package let rawValue: String

        package init(_ rawValue: String) {
            self.rawValue = rawValue
        }

        package var uri: String { "urn:intertwine:problem:\(rawValue)" }

        package var title: String {
            let words = rawValue.replacing("-", with: " ")
            return words.prefix(1).uppercased() + words.dropFirst()
        }
    }

    package let status: HTTPResponse.Status
    package let kind: ProblemType?
    /// The detail for the client's author, without internals of the service.
    package let detail: String
    package var fields: HTTPFields = [:]

    package init(_ status: HTTPResponse.Status, _ kind: ProblemType? = nil, _ detail: String, fields: HTTPFields = [:]) {
        self.status = status
        self.kind = kind
        self.detail = detail
        self.fields = fields
    }

    /// Creates a problem from an error. An unknown error is an internal error: the client receives 500 without details.
    package init(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as any ProblemConvertible: self = error.problem
        case RequestBodyError.tooLarge: self.init(.contentTooLarge, nil, "The body is too long.")
        case RequestBodyError.tooSlow: self.init(.requestTimeout, nil, "The body of the request took too long.")
        case RequestBodyError.incomplete: self.init(.badRequest, nil, "The body is incomplete.")
        case is CancellationError: self.init(.serviceUnavailable, nil, "The request was cancelled.", fields: [.retryAfter: "1"])
        default: self.init(.internalServerError, nil, "An internal error occurred.")
        }
    }

    package var details: ProblemDetails {
        guard let kind else { return ProblemDetails(status: status.code, detail: detail) }
        return ProblemDetails(type: kind.uri, title: kind.title, status: status.code, detail: detail)
    }

    package var response: ServerResponse {
        var fields = fields
        fields[.cacheControl] = "no-store"
        return details.response(fields: fields)
    }
}

/// An error that defines its problem details.
package protocol ProblemConvertible: Error {
    var problem: Problem { get }
}

extension Problem.ProblemType {
    package static let invalidParameter = Problem.ProblemType("invalid-parameter")
    package static let invalidBody = Problem.ProblemType("invalid-body")
    package static let storeUnavailable = Problem.ProblemType("store-unavailable")
}
