internal import Foundation
internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

package struct ListPage: DescribedAnswer {
    private enum CodingKeys: String, CodingKey { case limit, next }

    package static let notes: [String: PropertyNote] = [
        "limit": .init(.integer(minimum: 1, maximum: 1_000), "The maximum number of entries on the page."),
        "next": .init(
            .string(format: "uri-reference").orNull, "The href of the next page; null on the last page. Clients follow it unchanged."),
    ]

    static let limit = Parameter.integer(
        "limit", in: 1...1_000, default: 100, "The maximum number of entries on the page.", example: 100)

    static let cursor = Parameter.text(
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
    private let next: String?

    init(limit: Int, last: String?, path: String) {
        self.limit = limit
        next = last.map { "\(path)\(path.contains("?") ? "&" : "?")cursor=\(Base64URL.encode(Array($0.utf8)))&limit=\(limit)" }
    }

    static func page<Entry>(
        of list: [Entry], for request: RouteRequest, path: String, key: (Entry) -> String
    ) throws -> (entries: [Entry], page: ListPage) {
        let (limit, cursor) = (try request[limit], try request[cursor])
        var keyed = list.map { (key: key($0), entry: $0) }
        keyed.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        let rest = keyed.drop { entry in cursor.map { !$0.utf8.lexicographicallyPrecedes(entry.key.utf8) } ?? false }
        let shown = rest.prefix(limit)
        return (shown.map(\.entry), ListPage(limit: limit, last: rest.count > limit ? shown.last?.key : nil, path: path))
    }

    func response(_ answer: some Encodable) throws -> ServerResponse {
        var fields: HTTPFields = [:]
        if let next, let link = HTTPField.Name("Link") { fields[link] = "<\(next)>; rel=\"next\"" }
        return try .noStore(json: answer, fields: fields)
    }

    package func encode(to encoder: any Encoder) throws {
        var page = encoder.container(keyedBy: CodingKeys.self)
        try page.encode(limit, forKey: .limit)
        try page.encode(next, forKey: .next)
    }
}

extension ResponseDescription.Header {
    static let nextLink = ResponseDescription.Header(
        "Link", "`page.next` as a link (RFC 8288) with the relation `next`. Absent on the last page.",
        example: #"</admin/takedowns?cursor=dXNlcjp0dA&limit=100>; rel="next""#
    ).named("NextLink")
}

extension ResponseDescription {
    static let invalidListRequest = badRequest("A parameter is invalid, or the request is malformed.", ListPage.invalidParameters)
}

extension ListPage {
    static let invalidParameters = [
        ResponseDescription.ProblemExample(
            .invalidParameter("limit", .outOfRange, "limit must be a whole number from 1 to 1000.")),
        ResponseDescription.ProblemExample(invalidCursor),
    ]
}
