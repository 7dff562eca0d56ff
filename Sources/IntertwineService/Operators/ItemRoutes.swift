internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineStorage

struct ItemRoutes: Sendable {
    static let id = Parameter.segment("id", .string(minLength: 1), "The id of the item, percent-encoded.", example: #""tt""#)
    static let kind = Parameter.segment(
        "kind", .string(minLength: 1), "The kind of the item: `user`, `ad`, `campaign`, or a declared one.", example: #""user""#)
    private static let ifMatch = Parameter.field(
        "If-Match", .string, "The entity tag that the item must have, or `*` for any existing item.",
        example: #""\"a7f926ae9b1ba20481b0fe74\"""#)
    private static let ifNoneMatch = Parameter.field(
        "If-None-Match", .string, "`*`: the item is stored only if it does not exist.", example: #""*""#)

    let store: any ItemStore
    let kinds: ItemKinds
    var described: [any ItemKind] = []

    var routes: [Route] {
        let path = "/admin/items/{kind}/{id}"
        var writing = Self.writing
        if !described.isEmpty {
            writing.body = RequestBodyDescription(.items(.itemBody, described), example: "{" + Self.example)
        }
        return [
            Route(.get, path, Self.reading) { try await get($0, named(in: $0)) },
            Route(.put, path, writing) { try await put($0, named(in: $0)) },
            Route(.delete, path, Self.removing) { try await remove($0, named(in: $0)) },
        ]
    }

    private func named(in request: RouteRequest) throws(Problem) -> String {
        let name = try request[Self.kind]
        guard kinds[name] != nil else { throw Problem(.notFound, .unknownItem, "There is no such kind of item.") }
        return name
    }

    private func get(_ request: RouteRequest, _ kind: String) async throws -> ServerResponse {
        let id = try request[Self.id]
        guard let item = try await store.read({ try $0.storedItem(kind: kind, id: id) }) else { throw Self.missing }
        return Self.response(.ok, StoredItem(item))
    }

    private func put(_ request: RouteRequest, _ kind: String) async throws -> ServerResponse {
        let item = try valid(in: request)
        if let (_, error) = try await CampaignCheck(store: store, kinds: kinds).error(of: [item]) {
            throw Problem.invalid(.invalidItem, error.path, error.code, "The item is not valid: \(error).")
        }
        let wanted = StoredItem(item)
        let precondition = try Precondition(request.head)
        let check = { @Sendable (stored: FeedItem?) in
            try precondition.check(stored.map(StoredItem.init), isFree: { $0 == wanted })
        }
        try check(try await store.read { try $0.storedItem(kind: kind, id: item.id) })
        try await AuditContext.begin(hasChecked: true)
        let change: ItemChange
        do {
            change = try await store.put(item, releasing: OperatorRole.mayRelease, unless: check)
        } catch StoreOperationError.Reason.takenDown(let key) {
            throw TakedownRoutes.releaseRefused(key)
        }
        AuditContext.current?.record([change == .added ? "added" : "replaced": 1], items: [ItemKey(item).description])
        var response = Self.response(change == .added ? .created : .ok, wanted)
        if change == .added { response.fields[.location] = String((request.head.path ?? "").prefix { $0 != "?" }) }
        return response
    }

    private func remove(_ request: RouteRequest, _ kind: String) async throws -> ServerResponse {
        let precondition = try Precondition(request.head)
        let key = ItemKey(kind: kind, id: try request[Self.id])
        let check = { @Sendable (stored: FeedItem?) in
            guard let stored else { throw Self.missing }
            try precondition.check(StoredItem(stored), isFree: { _ in true })
        }
        try check(try await store.read { try $0.storedItem(kind: kind, id: key.id) })
        try await AuditContext.begin(hasChecked: true)
        _ = try await store.takeDown(key, reason: nil, at: request.now, unless: check)
        AuditContext.current?.record(["removed": 1], items: [key.description])
        return ServerResponse(status: .noContent)
    }

    func valid(in request: RouteRequest) throws -> ValidatedItem {
        try valid(request.request.body.bytes ?? [], named(in: request), id: try request[Self.id])
    }

    /// Its `kind` and `id` may be left out; if present, they must equal those of the path.
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

    private static func object(_ body: [UInt8]) throws(Problem) -> JSONObject {
        do {
            return try JSONObject(JSONPreamble.text(body), isLenient: true)
        } catch  where JSONText.isComplete(body) {
            throw Problem.invalid(.invalidItem, [], .invalid, "The body must be one JSON object.")
        } catch {
            throw .invalidBody(at: "", .invalid, "The body must be JSON: one object; at byte \(error.offset): \(error).")
        }
    }

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

extension ItemRoutes {
    private static let example =
        #""type": "featured", "username": "Tongue Twister", "avatarUrl": "https://pictures.example.com/tt.png"}"#
    static let itemExample = #"{"kind": "user", "id": "tt", "# + example
    static let missingItem = ResponseDescription.problem(
        .notFound, "There is no such item or kind.", [.init(.unknownItem, "There is no such item.")])

    private static let reading = APIOperation(
        "getItem", tag: "Items", "An item", "The item in the format of the import. `intertwine schema KIND` prints the members of a kind.",
        parameters: [kind, id, Parameter<Void>.ifNoneMatch],
        responses: [.json(.ok, "The item.", .item, [.noCache, .eTag], example: itemExample), .notModified, missingItem])

    private static let writing = APIOperation(
        "putItem", tag: "Items", "Store an item",
        """
        Without a condition, the operation stores an item that does not exist, or repeats the current content of an item. To replace other content, \
        the request must have `If-Match`. The body can omit `kind` and `id`; if present, they must equal those of the path. A replaced item keeps \
        its position in the feed.
        """,
        parameters: [kind, id, ifMatch, ifNoneMatch],
        body: RequestBodyDescription(.itemBody, example: "{" + example),
        responses: [
            .json(.ok, "The item is replaced, or has this content already.", .item, [.noCache, .eTag], example: itemExample),
            .json(
                .created, "The item is stored.", .item,
                [
                    .noCache, .eTag,
                    ResponseDescription.Header("Location", "The path of the item.", isRequired: true, example: "/admin/items/user/tt")
                        .named("Location"),
                ], example: itemExample),
            .badRequest(
                "The body is not JSON, a condition is invalid, or the request is malformed.",
                [
                    .init(.invalidBody(at: "", .invalid, "The body must be JSON: one object; at byte 1: ends too early.")), .wrongCondition,
                ]),
            .forbidden, missingItem, .otherItem, .contentTooLarge,
            .problem(
                .unprocessableContent, "The item is invalid. `detail` names the field.",
                [
                    .init(
                        .invalid(
                            .invalidItem, ["type"], .unknown,
                            #"The item is not valid: type: must be one of regular, featured, is "odd"."#))
                ]),
            .problem(
                .preconditionRequired, "The item exists with other content, and the request has no condition.",
                [.init(.preconditionRequired, "The item exists with other content. Send its entity tag in If-Match to replace it.")],
                [.noStore, .currentETag]),
            .storeUnavailable,
        ])

    private static let removing = APIOperation(
        "deleteItem", tag: "Items", "Remove an item",
        """
        The item is removed and taken down: imports and sources omit it until it is released (`/admin/takedowns`). With `If-Match`, the item is removed \
        only if it has that entity tag.
        """,
        parameters: [kind, id, ifMatch],
        responses: [
            .empty(.noContent, "The item is removed."),
            .badRequest("A condition is invalid, or the request is malformed.", [.wrongCondition]), .forbidden,
            missingItem, .otherItem, .storeUnavailable,
        ])
}
