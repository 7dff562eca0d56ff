internal import HTTPTypes

/// What a write says about the state it expects (RFC 9110 section 13.1, RFC 6585 section 3).
///
/// Where `If-Match` is there, what is there is replaced or removed only if it names its tag, or is `*` for whatever it is. Without any
/// condition a write may make what is not there, repeat what is, or remove it: 428 otherwise. So an update that its writer has not seen is
/// never overwritten by accident.
struct Precondition: Sendable {
    private enum Tags: Sendable {
        case any
        case some([String])

        func names(_ tag: String) -> Bool {
            switch self {
            case .any: true
            case .some(let tags): tags.contains(tag)
            }
        }
    }

    private let match: Tags?
    private let noneMatch: Tags?

    /// - Throws: ``Problem`` (400) where a field cannot be read.
    init(_ request: HTTPRequest) throws(Problem) {
        match = try Self.tags(request.headerFields[.ifMatch], isStrong: true)
        noneMatch = try Self.tags(request.headerFields[.ifNoneMatch], isStrong: false)
    }

    /// - Parameters:
    ///   - stored: what is there.
    ///   - isFree: whether the write may be done without a condition.
    /// - Throws: ``Problem`` (412 or 428) where the write must not be done.
    func check(_ stored: StoredItem?, isFree: (StoredItem) -> Bool) throws(Problem) {
        guard let stored else {
            if match != nil { throw Self.failed("There is no such item.") }
            return
        }
        let tag = stored.entityTag
        if let match, !match.names(tag) { throw Self.failed("The item is another one by now.", tag) }
        if let noneMatch, noneMatch.names(tag) { throw Self.failed("The item is there.", tag) }
        guard match != nil || noneMatch != nil || isFree(stored) else {
            throw Problem(
                .preconditionRequired, .preconditionRequired,
                "The item is there; If-Match must say which one is to be replaced.",
                fields: [.eTag: tag])
        }
    }

    private static func failed(_ detail: String, _ tag: String? = nil) -> Problem {
        var fields: HTTPFields = [:]
        fields[.eTag] = tag
        return Problem(.preconditionFailed, .preconditionFailed, detail, fields: fields)
    }

    /// Our tags hold no comma, so a list that is taken apart at commas loses none of them. Weak tags never match strongly.
    private static func tags(_ field: String?, isStrong: Bool) throws(Problem) -> Tags? {
        guard let field else { return nil }
        let parts = field.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
        if parts == ["*"] { return .any }
        var tags: [String] = []
        for part in parts {
            let isWeak = part.hasPrefix("W/")
            let tag = isWeak ? String(part.dropFirst(2)) : part
            guard tag.count >= 2, tag.hasPrefix("\""), tag.hasSuffix("\"") else {
                throw Problem(.badRequest, .invalidParameter, "If-Match and If-None-Match hold entity tags in quotes, or *.")
            }
            if !(isWeak && isStrong) { tags.append(tag) }
        }
        return .some(tags)
    }
}
