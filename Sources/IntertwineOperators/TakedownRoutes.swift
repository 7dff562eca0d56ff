internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineRouting
internal import IntertwineStorage

/// The routes `/admin/takedowns`: `GET` lists takedowns, `PUT` takes an item down, `DELETE` releases it. An import does not end a takedown.
struct TakedownRoutes: Sendable {
    /// The range of the number of takedowns on one page.
    private static let limits = 1...1_000
    /// The maximum length of a reason in characters, which take up to four bytes each.
    private static let reasonLimit = 256

    let store: any ItemStore
    let kinds: ItemKinds

    private struct Entry: Encodable {
        /// The item as `kind:id`.
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
        /// The value of `after` in the request for the next page.
        var next: String?
    }

    private static let limit = Parameter.integer("limit", in: limits, default: 100, "Takedowns on the page.", example: 100)

    /// The schema of an item's name, with the existing kinds.
    private var name: Schema { .string(pattern: "^(\(kinds.names.joined(separator: "|"))):.+$") }

    private var after: Parameter<String?> {
        Parameter.text("after", name, "`next` of the page before.", example: #""user:tt""#) { (query) throws(Problem) in
            try query.text("after")
        }
    }

    private var id: Parameter<String> {
        Parameter.segment("id", name, "`kind:id`, such as `user:tt`.", example: #""user:tt""#)
    }

    var routes: [Route] {
        let (after, id) = (self.after, self.id)
        let example = #"{"item": "user:tt", "at": "2026-11-22T09:00:00Z", "reason": "complaint 4711"}"#
        let wrong = ResponseDescription.badRequest(
            "A parameter, the path or the body is wrong, or the request cannot be understood at all.",
            [
                .init(
                    .invalidParameter(
                        "id", .invalid, "An item is named kind:id, such as user:tt; kind is one of ad, campaign, user.")),
                .init(.invalidBody(at: "", .invalid, "The body must be JSON: one object.")),
            ])
        let reason = Schema.object([
            .optional(
                "reason", Schema.string(minLength: 1, maxLength: Self.reasonLimit, pattern: #"^[^\u0000]+$"#).orNull,
                "The reason, shown in the list.")
        ])
        let listing = APIOperation(
            "listTakedowns", tag: "Items", "List takedowns",
            "Items that are taken down, in the order of kind and id.", parameters: [Self.limit, after],
            responses: [
                .json(.ok, "The takedowns.", .takedowns, [.noStore], example: "{\"takedowns\": [\(example)]}"), .notModified, wrong,
                .forbidden, .storeUnavailable,
            ])
        let taking = APIOperation(
            "takeDown", tag: "Items", "Take an item down",
            """
            Removes the item and keeps it away: imports and sources leave it out, until it is released or an operator puts it there again item \
            by item. One that is not there is kept away all the same. Removing an item by `DELETE` or by an operation takes it down too.
            """,
            parameters: [id], body: RequestBodyDescription(reason, isRequired: false, example: #"{"reason": "complaint 4711"}"#),
            responses: [
                .json(.ok, "It was taken down before; moment and reason are these now.", .takedown, [.noStore], example: example),
                .json(.created, "Taken down.", .takedown, [.noStore], example: example), wrong, .forbidden, .contentTooLarge,
                .problem(
                    .unprocessableContent, "The reason is no text, or too long.",
                    [.init(.invalidBody(at: "/reason", .invalid, "The body is not valid: reason: must be a string, is a number."))]),
                .storeUnavailable,
            ])
        let releasing = APIOperation(
            "release", tag: "Items", "Release an item",
            """
            Ends its takedown: the item comes back with the next import, or the next time its source is asked. An ad is released from the campaigns \
            that it belongs to, and with a campaign all ads that belong to it: they are house ads unless another campaign has them.
            """, parameters: [id],
            responses: [
                .empty(.noContent, "Released."), wrong, .forbidden,
                .problem(
                    .notFound, "The item was not taken down, and belongs to no campaign.",
                    [.init(.unknownItem, "This item was not taken down.")]),
                .storeUnavailable,
            ])
        return [
            Route(.get, "/admin/takedowns", listing) { try await list($0, after: try $0[after]) },
            Route(.put, "/admin/takedowns/{id}", taking) { try await takeDown($0, try $0[id]) },
            Route(.delete, "/admin/takedowns/{id}", releasing) { try await release(try $0[id]) },
        ]
    }

    private func list(_ request: RouteRequest, after text: String?) async throws -> ServerResponse {
        let limit = try request[Self.limit]
        let after = try text.map { try key($0, in: "after") }
        let found = try await store.takedowns(after: after, limit: limit + 1)
        let shown = found.prefix(limit).map(Entry.init)
        return try Self.response(.ok, List(takedowns: shown, next: found.count > limit ? shown.last?.item : nil))
    }

    private func takeDown(_ request: RouteRequest, _ id: String) async throws -> ServerResponse {
        let key = try key(id, in: "id")
        let reason = try reason(request.request.body.bytes ?? [])
        let isNew = try await store.takedown(of: key) == nil
        _ = try await store.takeDown(key, reason: reason, at: request.now)
        AuditContext.current?.record(["takenDown": 1], items: [key.description])
        return try Self.response(isNew ? .created : .ok, Entry(Takedown(item: key, at: request.now, reason: reason)))
    }

    private func release(_ id: String) async throws -> ServerResponse {
        let key = try key(id, in: "id")
        guard try await store.release([key]) > 0 else { throw Problem(.notFound, .unknownItem, "This item was not taken down.") }
        AuditContext.current?.record(["released": 1], items: [key.description])
        return ServerResponse(status: .noContent)
    }

    private func key(_ text: String, in parameter: String) throws -> ItemKey {
        guard let key = ItemKey(text, of: kinds) else {
            throw Problem.invalidParameter(
                parameter, .invalid,
                "An item is named kind:id, such as user:tt; kind is one of \(kinds.names.joined(separator: ", ")).")
        }
        return key
    }

    /// Returns the reason of a body `{"reason": "…"}`; nil if the body is empty.
    private func reason(_ body: [UInt8]) throws -> String? {
        guard !body.isEmpty else { return nil }
        guard let object = try? JSONObject(body) else { throw Problem.invalidBody(at: "", .invalid, "The body must be JSON: one object.") }
        let reason: String?
        do {
            reason = try ItemFields(object).optionalText("reason", limit: 4 * Self.reasonLimit).map { String(decoding: $0, as: UTF8.self) }
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

    private static func response(_ status: HTTPResponse.Status, _ answer: some Encodable) throws -> ServerResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ServerResponse(
            status: status, fields: [.contentType: "application/json", .cacheControl: "no-store"], body: Array(try encoder.encode(answer)))
    }
}
