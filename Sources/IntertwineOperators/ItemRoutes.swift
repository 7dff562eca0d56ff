internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineRouting
internal import IntertwineStorage

/// The routes `/admin/items/{kind}/{id}`, `/admin/users/{id}` and `/admin/advertisements/{id}`: one item in the format of the import.
///
/// Writes are protected against lost updates by ``Precondition``.
struct ItemRoutes: Sendable {
    fileprivate static let id = Parameter.segment("id", .string(minLength: 1), "The item's id, percent-encoded.", example: #""tt""#)
    fileprivate static let kind = Parameter.segment(
        "kind", .string(minLength: 1), "The kind: `user`, `ad`, `campaign`, or a declared kind.",
        example: #""user""#)
    fileprivate static let ifMatch = Parameter.field(
        "If-Match", .string, "The tag that the item must have, or `*` for whatever it is.", example: #""\"a7f926ae9b1ba20481b0fe74\"""#)
    fileprivate static let ifNoneMatch = Parameter.field(
        "If-None-Match", .string, "`*`: only make what is not there.", example: #""*""#)

    let store: any ItemStore
    let kinds: ItemKinds

    /// The names of a route family in the API description: for items of one kind, or of the kind in the path.
    fileprivate struct Collection {
        let pattern: String
        /// The kind of the items; nil if the path contains it.
        let kind: String?
        let name: String
        let one: String
        let schema: Schema
        let body: Schema
        /// An example item, in JSON.
        let example: String

        var parameters: [any RequestParameter] { kind == nil ? [ItemRoutes.kind, ItemRoutes.id] : [ItemRoutes.id] }
        var missing: String { kind == nil ? "There is no such item, or no such kind." : "There is no such item." }
        /// An example body, in JSON, without the members that the path contains.
        let bodyExample: String
    }

    private static let user =
        #""type": "featured", "username": "Tongue Twister", "avatarUrl": "https://pictures.example.com/tt.png"}"#
    private static let advertisement =
        #""type": "image", "contentUrl": "https://pictures.example.com/1.png", "clickthroughUrl": "https://shop.example.com/1"}"#

    private static let collections = [
        Collection(
            pattern: "/admin/users/{id}", kind: "user", name: "User", one: "a user", schema: .user, body: .userBody,
            example: #"{"kind": "user", "id": "tt", "# + user, bodyExample: "{" + user),
        Collection(
            pattern: "/admin/advertisements/{id}", kind: "ad", name: "Advertisement", one: "an advertisement",
            schema: .advertisement, body: .advertisementBody, example: #"{"kind": "ad", "id": "1", "# + advertisement,
            bodyExample: "{" + advertisement),
        Collection(
            pattern: "/admin/items/{kind}/{id}", kind: nil, name: "Item", one: "an item of any kind", schema: .item, body: .itemBody,
            example: #"{"kind": "user", "id": "tt", "# + user, bodyExample: "{" + user),
    ]

    var routes: [Route] {
        Self.collections.flatMap { items in
            [
                Route(.get, items.pattern, items.reading) { try await get($0, items.kind ?? named(in: $0)) },
                Route(.put, items.pattern, items.writing) { try await put($0, items.kind ?? named(in: $0)) },
                Route(.delete, items.pattern, items.removing) { try await remove($0, items.kind ?? named(in: $0)) },
            ]
        }
    }

    private func named(in request: RouteRequest) throws(Problem) -> String {
        let name = try request[Self.kind]
        guard kinds[name] != nil else { throw Problem(.notFound, .unknownItem, "There is no such kind of item.") }
        return name
    }

    private func get(_ request: RouteRequest, _ kind: String) async throws -> ServerResponse {
        let id = try request[Self.id]
        guard let item = try await store.read({ try $0.item(kind: kind, id: id) }) else { throw Self.missing }
        return Self.response(.ok, StoredItem(item))
    }

    private func put(_ request: RouteRequest, _ kind: String) async throws -> ServerResponse {
        let item = try valid(request.request.body.bytes ?? [], kind, id: try request[Self.id])
        if let (_, reason) = try await CampaignCheck(store: store, kinds: kinds).error(of: [item]) {
            throw Problem.invalid(.invalidItem, [], .conflict, "The item is not valid: \(reason).")
        }
        let wanted = StoredItem(item)
        let precondition = try Precondition(request.head)
        let change = try await store.put(item) { stored in
            try precondition.check(stored.map(StoredItem.init), isFree: { $0 == wanted })
        }
        AuditContext.current?.record([change == .added ? "added" : "replaced": 1], items: [ItemKey(item).description])
        var response = Self.response(change == .added ? .created : .ok, wanted)
        if change == .added { response.fields[.location] = String((request.head.path ?? "").prefix { $0 != "?" }) }
        return response
    }

    private func remove(_ request: RouteRequest, _ kind: String) async throws -> ServerResponse {
        let precondition = try Precondition(request.head)
        let key = ItemKey(kind: kind, id: try request[Self.id])
        let isGone = try await store.takeDown(key, reason: nil, at: request.now) { stored in
            guard let stored else { throw Self.missing }
            try precondition.check(StoredItem(stored), isFree: { _ in true })
        }
        guard isGone else { throw Self.missing }
        AuditContext.current?.record(["removed": 1], items: [ItemKey(kind: kind, id: try request[Self.id]).description])
        return ServerResponse(status: .noContent)
    }

    /// Returns the validated item of a body. Its `kind` and `id` may be left out; if present, they must equal those of the path.
    private func valid(_ body: [UInt8], _ kind: String, id: String) throws -> ValidatedItem {
        let object = try Self.object(body)
        do {
            let stated = try ItemFields(object).optionalText("kind", limit: 64)
            guard stated?.elementsEqual(kind.utf8) ?? true else {
                throw ItemError(field: "kind", reason: "must be \(kind) under this path", code: .conflict)
            }
            let item = try kinds.validate(Self.completed(object, kind, id: id))
            guard ByteString(item.id) == ByteString(id) else {
                throw ItemError(field: "id", reason: "must be the one of the path", code: .conflict)
            }
            return item
        } catch let fault as ItemError {
            throw Problem.invalid(.invalidItem, fault.path, fault.code, "The item is not valid: \(fault).")
        }
    }

    /// Parses a JSON object. JSON that is no object or is nested too deeply is an invalid item; other bytes are unreadable JSON.
    private static func object(_ body: [UInt8]) throws(Problem) -> JSONObject {
        do {
            return try JSONObject(body)
        } catch  where error.reason == .tooDeep || JSONText.isComplete(body) {
            throw Problem.invalid(.invalidItem, [], .invalid, "The body must be one JSON object.")
        } catch {
            throw .invalidBody(at: "", .invalid, "The body must be JSON: one object; at byte \(error.offset): \(error).")
        }
    }

    /// Returns the bytes of the object, preceded by the members `kind` and `id` of the path if the object lacks them.
    private static func completed(_ object: JSONObject, _ kind: String, id: String) -> [UInt8] {
        let names = object.members.map { object.characters(of: $0.name) }
        let missing = [("kind", kind), ("id", id)].filter { name, _ in !names.contains { $0.elementsEqual(name.utf8) } }
        var bytes = Array("{".utf8)
        for (number, (name, value)) in missing.enumerated() {
            if number > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(jsonString: name.utf8)
            bytes.append(UInt8(ascii: ":"))
            bytes.append(jsonString: value.utf8)
        }
        if !missing.isEmpty, !names.isEmpty { bytes.append(UInt8(ascii: ",")) }
        return bytes + object.bytes[object.range].dropFirst()
    }

    private static let missing = Problem(.notFound, .unknownItem, "There is no such item.")

    private static func response(_ status: HTTPResponse.Status, _ item: StoredItem) -> ServerResponse {
        var response = ServerResponse(
            status: status, fields: [.contentType: "application/json", .cacheControl: "no-cache"], body: item.json)
        response.entityTag = item.entityTag
        return response
    }
}

extension ItemRoutes.Collection {
    private var missingItem: ResponseDescription { .problem(.notFound, missing, [.init(.unknownItem, "There is no such item.")]) }

    fileprivate var reading: APIOperation {
        APIOperation(
            "get\(name)", tag: "Items", one.prefix(1).uppercased() + one.dropFirst(), "In the form of the import, with its tag.",
            parameters: parameters + [Parameter<Void>.ifNoneMatch],
            responses: [.json(.ok, "The item.", schema, [.noCache, .eTag], example: example), .notModified, missingItem])
    }

    fileprivate var writing: APIOperation {
        let place = ResponseDescription.Header("Location", "Where the item is.", isRequired: true, example: "/admin/users/tt").named(
            "Location")
        return APIOperation(
            "put\(name)", tag: "Items", "Make or replace \(one)",
            """
            Without a condition it makes what is not there, or repeats what is; what is another one is replaced under `If-Match` alone. \
            The body may omit `kind` and `id`. If present, they must equal those of the path. The item keeps its place in the feed.
            """,
            parameters: parameters + [ItemRoutes.ifMatch, ItemRoutes.ifNoneMatch],
            body: RequestBodyDescription(body, example: bodyExample),
            responses: [
                .json(.ok, "Replaced, or there already.", schema, [.noCache, .eTag], example: example),
                .json(.created, "Made.", schema, [.noCache, .eTag, place], example: example),
                .badRequest(
                    "The body is no JSON, or a condition cannot be read, or the request cannot be understood at all.",
                    [
                        .init(.invalidBody(at: "", .invalid, "The body must be JSON: one object; at byte 1: ends too early.")),
                        .wrongCondition,
                    ]),
                .forbidden, .otherItem, .contentTooLarge,
                .problem(
                    .unprocessableContent, "The body is no such item; the detail names the field.",
                    [
                        .init(
                            .invalid(
                                .invalidItem, ["type"], .unknown,
                                #"The item is not valid: type: must be one of regular, featured, is "odd"."#))
                    ]),
                .problem(
                    .preconditionRequired, "The item is there and another one, and no condition says that it is to be replaced.",
                    [.init(.preconditionRequired, "The item is there; If-Match must say which one is to be replaced.")],
                    [.noStore, .currentETag]),
                .storeUnavailable,
            ] + (kind == nil ? [missingItem] : []))
    }

    fileprivate var removing: APIOperation {
        APIOperation(
            "delete\(name)", tag: "Items", "Remove \(one)",
            """
            Whatever it is, or under `If-Match` only the one that is named. It stays away from then on, whoever brings it: see takedowns.
            """,
            parameters: parameters + [ItemRoutes.ifMatch],
            responses: [
                .empty(.noContent, "Removed."),
                .badRequest("A condition cannot be read, or the request cannot be understood at all.", [.wrongCondition]), .forbidden,
                missingItem, .otherItem, .storeUnavailable,
            ])
    }
}
