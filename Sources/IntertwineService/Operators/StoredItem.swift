internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineStorage

/// An item in the format of the import, as the admin API shows it, with a tag that changes with every change of the item.
struct StoredItem: Sendable, Hashable {
    let json: [UInt8]

    init(_ item: FeedItem) {
        json = Self.json(kind: item.kind, id: item.id, variant: item.variant, body: item.body)
    }

    init(_ item: ValidatedItem) {
        json = Self.json(kind: item.kind, id: item.id, variant: item.variant, body: item.body)
    }

    init(_ key: ItemKey, _ variant: String, _ body: [UInt8]) {
        json = Self.json(kind: key.kind, id: key.id, variant: variant, body: body)
    }

    var entityTag: String { EntityTag.of(json) }

    private static func json(kind: String, id: String, variant: String, body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        let members = [("{\"kind\":", kind), (",\"id\":", id)] + (variant.isEmpty ? [] : [(",\"type\":", variant)])
        for (name, value) in members {
            bytes += name.utf8
            bytes.append(jsonString: value.utf8)
        }
        let fields = body.dropFirst()
        if fields.count > 1 { bytes.append(UInt8(ascii: ",")) }
        return bytes + fields
    }
}

/// The conditions of a write on the current state of an item (RFC 9110 section 13.1, RFC 6585 section 3).
/// Without a condition, a write may create an item that does not exist, repeat its current content, or remove it; other writes get 428.
/// Why: updates that the writer has not seen are never overwritten by accident.
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

    init(_ request: HTTPRequest) throws(Problem) {
        match = try Self.tags(.ifMatch, of: request, isStrong: true)
        noneMatch = try Self.tags(.ifNoneMatch, of: request, isStrong: false)
    }

    /// ``Problem`` (412 or 428) if the write must not be performed.
    func check(_ stored: StoredItem?, isFree: (StoredItem) -> Bool) throws(Problem) {
        guard let stored else {
            if match != nil { throw Self.failed("There is no such item.") }
            return
        }
        let tag = stored.entityTag
        if let match, !match.names(tag) { throw Self.failed("The item has changed.", tag) }
        if let noneMatch, noneMatch.names(tag) { throw Self.failed("The item exists.", tag) }
        guard match != nil || noneMatch != nil || isFree(stored) else {
            throw Problem(
                .preconditionRequired, .preconditionRequired,
                "The item exists with other content. Send its entity tag in If-Match to replace it.",
                fields: [.eTag: tag])
        }
    }

    private static func failed(_ detail: String, _ tag: String? = nil) -> Problem {
        var fields: HTTPFields = [:]
        fields[.eTag] = tag
        return Problem(.preconditionFailed, .preconditionFailed, detail, fields: fields)
    }

    /// Weak tags never match in a strong comparison.
    private static func tags(_ name: HTTPField.Name, of request: HTTPRequest, isStrong: Bool) throws(Problem) -> Tags? {
        guard let field = request.headerFields[name] else { return nil }
        let malformed = malformed(name.rawName)
        var rest = field.utf8[...]
        func skip(_ bytes: String) { rest = rest.drop { bytes.utf8.contains($0) } }
        skip(" \t")
        if rest.elementsEqual("*".utf8) { return .any }
        var tags: [String] = []
        while !rest.isEmpty {
            let isWeak = rest.starts(with: "W/".utf8)
            if isWeak { rest = rest.dropFirst(2) }
            guard rest.first == UInt8(ascii: "\""), let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "\"")) else { throw malformed }
            if !(isWeak && isStrong) { tags.append(String(Substring(rest[...end]))) }
            rest = rest[end...].dropFirst()
            skip(" \t")
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { throw malformed }
            skip(", \t")
        }
        return .some(tags)
    }

    static func malformed(_ name: String) -> Problem {
        .invalidParameter(name, .invalid, "\(name) must be a list of entity tags in quotes, or *.")
    }
}
