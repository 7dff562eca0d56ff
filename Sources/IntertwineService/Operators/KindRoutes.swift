internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

struct KindRoutes: Sendable {
    private struct Kinds: DescribedAnswer {
        struct Kind: DescribedAnswer {
            static let notes: [String: PropertyNote] = [
                "kind": "The name of the kind.",
                "schema": .init(.string(format: "uri-reference"), "The href of the JSON Schema of an item."),
            ]

            var kind: String
            var schema: String
        }

        var kinds: [Kind]
        var page: ListPage
    }

    private static let kind = Parameter.segment(
        "kind", .string(minLength: 1), "The name of the kind: `user`, `ad`, `campaign`, or a declared one.", example: #""user""#)

    let kinds: ItemKinds

    var routes: [Route] {
        let listing = APIOperation(
            "getKinds", tag: "Items", "The kinds of items",
            "The built-in kinds, and those of the configuration and of the program, sorted by name.",
            parameters: [ListPage.limit, ListPage.cursor],
            responses: [
                .json(
                    .ok, "The kinds.", Kinds.schema, [.noStore, .nextLink],
                    example: """
                        {"kinds": [{"kind": "ad", "schema": "/admin/kinds/ad"}, {"kind": "user", "schema": "/admin/kinds/user"}], \
                        "page": {"limit": 100, "next": null}}
                        """),
                .notModified, .invalidListRequest,
            ])
        let reading = APIOperation(
            "getKind", tag: "Items", "The schema of a kind",
            "The JSON Schema (2020-12) of an item of the kind. `intertwine schema` prints the same schema.",
            parameters: [Self.kind],
            responses: [
                .json(
                    .ok, "The schema.", .object([]), [.noStore], type: "application/schema+json",
                    example: """
                        {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "note", "type": "object", \
                        "properties": {"kind": {"const": "note"}}, "required": ["kind"]}
                        """),
                .notModified,
                .problem(.notFound, "There is no such kind.", [.init(.unknownItem, "There is no such kind of item.")]),
            ])
        return [
            Route(.get, "/admin/kinds", listing) { request in
                let (names, page) = try ListPage.page(of: kinds.names, for: request, path: "/admin/kinds", key: \.self)
                let shown = names.map { Kinds.Kind(kind: $0, schema: "/admin/kinds/\(PercentCoding.encode($0))") }
                return try page.response(Kinds(kinds: shown, page: page))
            },
            Route(.get, "/admin/kinds/{kind}", reading) { request in
                guard let kind = kinds[try request[Self.kind]] else {
                    throw Problem(.notFound, .unknownItem, "There is no such kind of item.")
                }
                return ServerResponse(
                    status: .ok, fields: [.contentType: "application/schema+json", .cacheControl: "no-store"], body: kind.schema())
            },
        ]
    }
}
