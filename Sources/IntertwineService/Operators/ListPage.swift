internal import Foundation
internal import HTTPTypes
package import IntertwineHTTPServer
internal import IntertwinePrimitives

/// A page of a list of the admin API.
///
/// A list is sorted by a unique key of its entries. A cursor has the key of the last entry on its page, in base64url. So pagination neither
/// repeats nor skips an entry if others are added or removed in the meantime.
package struct ListPage: DescribedAnswer {
    private enum CodingKeys: String, CodingKey { case limit, next }

    package static let notes: [String: PropertyNote] = [
        "limit": .init(.integer(minimum: 1, maximum: 1_000), "The maximum number of entries on the page."),
        "next": .init(
            .string(format: "uri-reference").orNull, "The href of the next page; null on the last page. Clients follow it unchanged."),
    ]

    package static let limit = Parameter.integer(
        "limit", in: 1...1_000, default: 100, "The maximum number of entries on the page.", example: 100)

    /// The key after which the page begins; nil for the first page.
    package static let cursor = Parameter.text(
        "cursor", .string(minLength: 1, pattern: "^[A-Za-z0-9_-]+$"),
        "The opaque position of a page. `page.next` contains it; clients follow this href unchanged. Without a cursor, the response is the first page.",
        example: nil
    ) { (query) throws(Problem) in
        guard let text = try query.text("cursor") else { return nil }
        guard let bytes = Base64URL.decode(text.utf8), let key = String(validating: bytes, as: UTF8.self), !key.isEmpty else {
            throw invalidCursor
        }
        return key
    }

    static let invalidCursor = Problem(.badRequest, .invalidCursor, "cursor is not valid. Follow page.next unchanged.").naming(
        "cursor", .invalid)

    private let limit: Int
    /// The href of the next page; nil on the last page.
    private let next: String?

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - last: The key of the last entry of the page if there are more entries; nil on the last page.
    ///   - path: The path of the list.
    init(limit: Int, last: String?, path: String) {
        self.limit = limit
        next = last.map { "\(path)?cursor=\(Base64URL.encode(Array($0.utf8)))&limit=\(limit)" }
    }

    /// Returns the page of a request from a list in memory, with its entries.
    ///
    /// - Parameters:
    ///   - list: All entries, in any order.
    ///   - path: The path of the list.
    ///   - key: Returns the unique key of an entry. The list is sorted by the bytes of the keys.
    package static func page<Entry>(
        of list: [Entry], for request: RouteRequest, path: String, key: (Entry) -> String
    ) throws -> (entries: [Entry], page: ListPage) {
        let (limit, cursor) = (try request[limit], try request[cursor])
        var keyed = list.map { (key: key($0), entry: $0) }
        keyed.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        let rest = keyed.drop { entry in cursor.map { !$0.utf8.lexicographicallyPrecedes(entry.key.utf8) } ?? false }
        let shown = rest.prefix(limit)
        return (shown.map(\.entry), ListPage(limit: limit, last: rest.count > limit ? shown.last?.key : nil, path: path))
    }

    /// Returns the response with a list.
    ///
    /// - Parameter answer: The body: the entries under the name of the list, and this page as `page`.
    package func response(_ answer: some Encodable) throws -> ServerResponse {
        var fields: HTTPFields = [:]
        if let next, let link = HTTPField.Name("Link") { fields[link] = "<\(next)>; rel=\"next\"" }
        return try .noStore(json: answer, fields: fields)
    }

    /// Encodes the page. On the last page, `next` is null.
    package func encode(to encoder: any Encoder) throws {
        var page = encoder.container(keyedBy: CodingKeys.self)
        try page.encode(limit, forKey: .limit)
        try page.encode(next, forKey: .next)
    }
}

extension ResponseDescription.Header {
    /// The field `Link` of a list of the admin API.
    package static let nextLink = ResponseDescription.Header(
        "Link", "`page.next` as a link (RFC 8288) with the relation `next`. Absent on the last page.",
        example: #"</admin/takedowns?cursor=dXNlcjp0dA&limit=100>; rel="next""#
    ).named("NextLink")
}

extension ResponseDescription {
    /// The description of 400 for a list of the admin API.
    static let invalidListRequest = badRequest("A parameter is invalid, or the request is malformed.", ListPage.invalidParameters)
}

extension ListPage {
    /// The problems for invalid values of ``limit`` and ``cursor``.
    package static let invalidParameters = [
        ResponseDescription.ProblemExample(
            .invalidParameter("limit", .outOfRange, "limit must be a whole number from 1 to 1000.")),
        ResponseDescription.ProblemExample(invalidCursor),
    ]
}
