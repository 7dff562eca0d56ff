internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer

extension Problem {
    /// Returns the problem of an item or operation that is invalid JSON of its kind (422).
    ///
    /// - Parameter path: The names and indices that lead to the value in the body.
    static func invalid(_ kind: ProblemType, _ path: [String], _ code: ItemError.Code, _ detail: String) -> Problem {
        Problem(
            .unprocessableContent, kind, detail,
            errors: [InvalidValue(.body(path), InvalidValue.Code(rawValue: code.rawValue) ?? .invalid, detail)])
    }
}

extension InvalidValue.Code {
    init(_ error: ItemError) { self = InvalidValue.Code(rawValue: error.code.rawValue) ?? .invalid }
}
