internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineStorage

struct TakedownRoutes: Sendable {
    private static let reasonLimit = 256

    let store: any ItemStore
    let kinds: ItemKinds

    private struct Entry: Encodable {
        var item: String
        var at: String
        var reason: String?

        init(_ takedown: Takedown) {
            item = "\(takedown.item.kind):\(takedown.item.id)"
            at = Timestamp.text(milliseconds: takedown.at)
            reason = takedown.reason
        }
    }

    private struct List: Encodable {
        var takedowns: [Entry]
        var page: ListPage
    }

    private var name: Schema { .string(pattern: "^(\(kinds.names.joined(separator: "|"))):.+$") }

    private var id: Parameter<String> {
        Parameter.segment("id", name, "The item as `kind:id`, such as `user:tt`.", example: #""user:tt""#)
    }

    var routes: [Route] {
        let id = self.id
        let example = #"{"item": "user:tt", "at": "2026-11-22T09:00:00Z", "reason": "complaint 4711"}"#
        let wrong = ResponseDescription.badRequest(
            "A parameter, the path or the body is invalid, or the request is malformed.",
            [
                .init(
                    .invalidParameter(
                        "id", .invalid, "An item is named kind:id, such as user:tt; kind is one of ad, campaign, user.")),
                .init(.invalidBody(at: "", .invalid, "The body must be JSON: one object.")),
            ])
        let reason = Schema.object(
            [
                .optional(
                    "reason", Schema.string(maxLength: Self.reasonLimit).orNull,
                    "The reason, shown in the list.")
            ], isClosed: true)
        let listing = APIOperation(
            "listTakedowns", tag: "Items", "List takedowns",
            "The items that are taken down, in the order of kind and id.", parameters: [ListPage.limit, ListPage.cursor],
            responses: [
                .json(
                    .ok, "The takedowns.", .takedowns, [.noStore, .nextLink],
                    example: "{\"takedowns\": [\(example)], \"page\": {\"limit\": 100, \"next\": null}}"),
                .notModified,
                .invalidListRequest, .forbidden, .storeUnavailable,
            ])
        let reading = APIOperation(
            "getTakedown", tag: "Items", "A takedown", "The time and the reason of a takedown.", parameters: [id],
            responses: [
                .json(.ok, "The takedown.", .takedown, [.noStore], example: example), .notModified, wrong,
                .problem(.notFound, "The item is not taken down.", [.init(.unknownItem, "This item was not taken down.")]),
                .storeUnavailable,
            ])
        let taking = APIOperation(
            "takeDown", tag: "Items", "Take an item down",
            """
            The item is removed. Imports and sources omit it until it is released, or until an operator stores it again with `PUT` or an operation. An \
            item that does not exist can be taken down too. `DELETE` of an item, and operations that remove items, take them down as well.
            """,
            parameters: [id], body: RequestBodyDescription(reason, isRequired: false, example: #"{"reason": "complaint 4711"}"#),
            responses: [
                .json(.ok, "The item was taken down already. Time and reason are replaced.", .takedown, [.noStore], example: example),
                .json(.created, "The item is taken down.", .takedown, [.noStore], example: example), wrong, .forbidden, .contentTooLarge,
                .problem(
                    .unprocessableContent, "The reason is not a string or is too long.",
                    [.init(.invalidBody(at: "/reason", .invalid, "The body is not valid: reason: must be a string, is a number."))]),
                .storeUnavailable,
            ])
        let releasing = APIOperation(
            "release", tag: "Items", "Release an item",
            """
            The takedown ends. The item returns with the next import or synchronization, and a campaign of the file runs again.
            """, parameters: [id],
            responses: [
                .empty(.noContent, "The item is released."), wrong, .forbidden,
                .problem(
                    .notFound, "The item is not taken down.",
                    [.init(.unknownItem, "This item was not taken down.")]),
                .storeUnavailable,
            ])
        return [
            Route(.get, "/admin/takedowns", listing) { try await list($0) },
            Route(.get, "/admin/takedowns/{id}", reading) { request in
                guard let found = try await store.takedown(of: key(try request[id], in: "id")) else { throw Self.notTakenDown }
                return try .noStore(json: Entry(found))
            },
            Route(.put, "/admin/takedowns/{id}", taking) { try await takeDown($0, try $0[id]) },
            Route(.delete, "/admin/takedowns/{id}", releasing) { try await release(try $0[id]) },
        ]
    }

    private func list(_ request: RouteRequest) async throws -> ServerResponse {
        let limit = try request[ListPage.limit]
        let last = try request[ListPage.cursor].map { try Self.item(at: $0) }
        let found = try await store.takedowns(after: last, limit: limit + 1)
        let shown = found.prefix(limit)
        let key = found.count > limit ? shown.last.map { "\($0.item.kind):\($0.item.id)" } : nil
        let page = ListPage(limit: limit, last: key, path: "/admin/takedowns")
        return try page.response(List(takedowns: shown.map(Entry.init), page: page))
    }

    private static func item(at key: String) throws -> ItemKey {
        let parts = key.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw ListPage.invalidCursor }
        return ItemKey(kind: parts[0], id: parts[1])
    }

    private func takeDown(_ request: RouteRequest, _ id: String) async throws -> ServerResponse {
        let key = try key(id, in: "id")
        let reason = try reason(in: request)
        try await AuditContext.begin()
        let change = try await store.takeDown(key, reason: reason, at: request.now)
        AuditContext.current?.record(["takenDown": 1], items: [key.description])
        return try .noStore(json: Entry(Takedown(item: key, at: request.now, reason: reason)), status: change.isNew ? .created : .ok)
    }

    /// The refusal of a write that would release an item, for the roles below ``OperatorRole/publish``.
    static func releaseRefused(_ key: ItemKey) -> Problem {
        Problem(.forbidden, .roleRequired, "The item \(key) is taken down. Its release requires the role publish.")
    }

    private func release(_ id: String) async throws -> ServerResponse {
        let key = try key(id, in: "id")
        guard try await store.takedown(of: key) != nil else { throw Self.notTakenDown }
        try await AuditContext.begin(hasChecked: true)
        guard try await store.release([key]) > 0 else { throw Self.notTakenDown }
        AuditContext.current?.record(["released": 1], items: [key.description])
        return ServerResponse(status: .noContent)
    }

    private static let notTakenDown = Problem(.notFound, .unknownItem, "This item was not taken down.")

    private func key(_ text: String, in parameter: String) throws -> ItemKey {
        guard let key = ItemKey(text, of: kinds) else {
            throw Problem.invalidParameter(
                parameter, .invalid,
                "An item is named kind:id, such as user:tt; kind is one of \(kinds.names.joined(separator: ", ")).")
        }
        return key
    }

    private func reason(in request: RouteRequest) throws -> String? {
        guard request.request.body.bytes?.isEmpty == false else { return nil }
        let fields = try request.object()
        try fields.refuseMembers(besides: ["reason"])
        let reason: String?
        do {
            reason = try fields.optionalText("reason", limit: 4 * Self.reasonLimit).map { String(decoding: $0, as: UTF8.self) }
        } catch {
            throw Problem.invalidBody(
                at: "/reason", InvalidValue.Code(error), "The body is not valid: \(error).", status: .unprocessableContent)
        }
        guard reason?.unicodeScalars.count ?? 0 <= Self.reasonLimit else {
            throw Problem.invalidBody(
                at: "/reason", .tooLong, "The body is not valid: reason: at most \(Self.reasonLimit) characters.",
                status: .unprocessableContent)
        }
        return reason
    }
}
