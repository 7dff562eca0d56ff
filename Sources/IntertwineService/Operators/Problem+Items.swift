internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer

extension Problem {
    static func invalid(_ kind: ProblemType, _ path: [String], _ code: ItemError.Code, _ detail: String) -> Problem {
        Problem(
            .unprocessableContent, kind, detail,
            errors: [InvalidValue(.body(path), InvalidValue.Code(rawValue: code.rawValue) ?? .invalid, detail)])
    }
}

extension InvalidValue.Code {
    init(_ error: ItemError) { self = InvalidValue.Code(rawValue: error.code.rawValue) ?? .invalid }
}
