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
    private let match: String?
    private let noneMatch: String?

    init(_ request: HTTPRequest) throws(Problem) {
        (match, noneMatch) = (request.headerFields[.ifMatch], request.headerFields[.ifNoneMatch])
        for (name, field) in [("If-Match", match), ("If-None-Match", noneMatch)] {
            if let field, EntityTags.field(field, names: "", strongly: false) == nil { throw Self.malformed(name) }
        }
    }

    /// ``Problem`` (412 or 428) if the write must not be performed.
    func check(_ stored: StoredItem?, isFree: (StoredItem) -> Bool) throws(Problem) {
        guard let stored else {
            if match != nil { throw Self.failed("There is no such item.") }
            return
        }
        let tag = stored.entityTag
        if let match, EntityTags.field(match, names: tag, strongly: true) != true { throw Self.failed("The item has changed.", tag) }
        if let noneMatch, EntityTags.field(noneMatch, names: tag, strongly: false) == true { throw Self.failed("The item exists.", tag) }
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

    static func malformed(_ name: String) -> Problem {
        .invalidParameter(name, .invalid, "\(name) must be a list of entity tags in quotes, or *.")
    }
}
