internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import IntertwineStorage

struct OperationRoutes: Sendable {
    /// The maximum size of a body in bytes.
    private static let bodyLimit = 4 << 20

    let store: any ItemStore
    let kinds: ItemKinds

    private struct Operated: DescribedAnswer {
        var inserted: Int
        var moved: Int
        var updated: Int
        var removed: Int
    }

    var routes: [Route] {
        let operation = APIOperation(
            "operate", tag: "Items", "Perform operations in one transaction",
            "The operations are performed in order, all or none. Problems count operations from 0.",
            body: RequestBodyDescription(
                .object([.required("operations", .list(of: .operation, maximum: StoreOperation.limit))]),
                example: #"{"operations": [{"move": "user:Cash", "before": "user:Glasses"}, {"remove": "user:tt"}]}"#),
            responses: [
                .json(
                    .ok, "All operations were performed.", Operated.schema, [.noStore],
                    example: #"{"inserted": 0, "moved": 1, "updated": 0, "removed": 1}"#),
                .badRequest(
                    "The body is not a JSON object with `operations`, or the request is malformed.",
                    [.init(.invalidBody(at: "/operations", .required, OperationReader.shape + "."))]),
                .forbidden,
                .problem(
                    .preconditionFailed, "An item has another entity tag. No operation was performed.",
                    [
                        .init(
                            .preconditionFailed, "Nothing was done. Operation 0, counted from 0: the item has changed.")
                    ]),
                .contentTooLarge,
                .problem(
                    .unprocessableContent, "An operation is invalid. No operation was performed.",
                    [.init(OperationReader.problem(1, ItemError(reason: "user:missing does not exist")))]),
                .storeUnavailable,
            ])
        // Clearing a section of millions of items takes longer than the usual time limit.
        return [Route(.post, "/admin/operations", operation, bodyLimit: Self.bodyLimit, timeLimit: .seconds(120)) { try await apply($0) }]
    }

    private func apply(_ request: RouteRequest) async throws -> ServerResponse {
        let listed = try OperationReader(kinds: kinds).read(request.request.body.bytes ?? [])
        let written = listed.enumerated().compactMap { number, listed in listed.operation.item.map { (number: number, item: $0) } }
        if let (index, error) = try await CampaignCheck(store: store, kinds: kinds).error(of: written.map(\.item)) {
            throw OperationReader.problem(written[index].number, ItemError(reason: "\(error)", code: error.code))
        }
        let tags = listed.map(\.tag)
        try await AuditContext.begin()
        do {
            let summary = try await store.apply(
                listed.map(\.operation), reason: nil, at: request.now, releasing: OperatorRole.mayRelease
            ) { index, item in
                guard let tag = tags[index], tag != StoredItem(item).entityTag else { return }
                throw Problem(
                    .preconditionFailed, .preconditionFailed,
                    "Nothing was done. Operation \(index), counted from 0: the item has changed.")
            }
            let keys = listed.compactMap(\.operation.key) + summary.cleared
            AuditContext.current?.record(
                ["inserted": summary.inserted, "moved": summary.moved, "updated": summary.updated, "removed": summary.removed].filter {
                    $0.value > 0
                }, items: keys.lazy.map(\.description))
            return try .noStore(
                json: Operated(inserted: summary.inserted, moved: summary.moved, updated: summary.updated, removed: summary.removed))
        } catch let fault as StoreOperationError {
            if case .takenDown(let key) = fault.reason { throw TakedownRoutes.releaseRefused(key) }
            throw OperationReader.problem(fault.index, ItemError(reason: "\(fault.reason)", code: .conflict))
        }
    }
}

/// A parser of operations in the body of a request: `{"operations": […]}`, an array of objects, each with one verb.
/// Operations that change an item may have `"ifMatch"`, the tag that the item must have.
struct OperationReader: Sendable {
    struct Listed: Sendable, Hashable {
        var operation: StoreOperation
        var tag: String?
    }

    static let shape = #"The body must be a JSON object with an array of operations, {"operations": […]}"#
    private static let verbs = ["append", "insert", "move", "update", "remove", "clear"]
    private static let others = ["before", "after", "ifMatch"]

    let kinds: ItemKinds

    func read(_ body: [UInt8]) throws(Problem) -> [Listed] {
        let list = try Self.list(in: body)
        guard list.elements.count <= StoreOperation.limit else {
            let limit = StoreOperation.limit
            throw Self.problem(limit, ItemError(reason: "there are more than \(limit) operations", code: .tooMany))
        }
        var operations: [Listed] = []
        for (index, element) in list.elements.enumerated() {
            do { operations.append(try operation(try ItemFields(list.bytes(of: element), isLenient: true))) } catch {
                throw Self.problem(index, error)
            }
        }
        return operations
    }

    private static func list(in body: [UInt8]) throws(Problem) -> JSONArray {
        let object: JSONObject
        do { object = try JSONObject(JSONPreamble.text(body), isLenient: true) } catch {
            throw .invalidBody(at: "", .invalid, "\(shape): \(error), at byte \(error.offset).")
        }
        guard let token = try? ItemFields(object).token("operations") else {
            throw .invalidBody(at: "/operations", .required, "\(shape).")
        }
        guard token.kind == .array, let list = try? JSONArray(Array(object.bytes[token.range]), isLenient: true) else {
            throw .invalidBody(at: "/operations", .invalid, "\(shape).")
        }
        return list
    }

    static func problem(_ index: Int, _ error: ItemError) -> Problem {
        .invalid(
            .invalidOperation, ["operations", String(index)] + error.path, error.code,
            "Nothing was done. Operation \(index), counted from 0: \(error).")
    }

    private func operation(_ fields: ItemFields) throws(ItemError) -> Listed {
        let names = fields.object.members.map { String(decoding: fields.object.characters(of: $0.name), as: UTF8.self) }
        if let unknown = names.first(where: { !(Self.verbs + Self.others).contains($0) }) {
            throw ItemError(
                reason: "\"\(ItemError.shown(unknown))\" is not a member of an operation", code: .unknown, path: [unknown])
        }
        let verbs = names.filter(Self.verbs.contains)
        guard verbs.count == 1, let verb = verbs.first else {
            throw ItemError(
                reason: "must have one of \(Self.verbs.joined(separator: ", "))", code: verbs.isEmpty ? .required : .conflict)
        }
        let operation: StoreOperation =
            switch verb {
            case "append": .append(try item(verb, fields))
            case "insert": .insert(try item(verb, fields), try position(fields))
            case "move": .move(try key(verb, fields), try position(fields))
            case "update": .update(try item(verb, fields))
            case "remove": .remove(try key(verb, fields))
            default: .clear(section: String(decoding: try fields.text(verb, limit: 256), as: UTF8.self))
            }
        let hasPlace = verb == "insert" || verb == "move"
        if !hasPlace, let place = names.first(where: { $0 == "before" || $0 == "after" }) {
            throw ItemError(field: place, reason: "is not permitted with \(verb)", code: .conflict)
        }
        let tag = try fields.optionalText("ifMatch", limit: 256).map { String(decoding: $0, as: UTF8.self) }
        guard tag == nil || ["move", "update", "remove"].contains(verb) else {
            throw ItemError(field: "ifMatch", reason: "is not permitted with \(verb)", code: .conflict)
        }
        return Listed(operation: operation, tag: tag)
    }

    private func item(_ verb: String, _ fields: ItemFields) throws(ItemError) -> ValidatedItem {
        guard let token = try fields.token(verb), token.kind == .object else { throw ItemError(field: verb, reason: "must be an item") }
        do {
            return try kinds.validate(Array(fields.object.bytes[token.range]))
        } catch {
            throw ItemError(
                field: error.field.map { "\(verb).\($0)" } ?? verb, reason: error.reason, code: error.code, path: [verb] + error.path)
        }
    }

    private func position(_ fields: ItemFields) throws(ItemError) -> StoreOperation.Position {
        let isBefore = try fields.token("before") != nil
        guard try fields.token("after") != nil || isBefore else { throw ItemError(reason: "must have before or after", code: .required) }
        guard try fields.token("after") == nil || !isBefore else {
            throw ItemError(reason: "must have either before or after", code: .conflict)
        }
        return isBefore ? .before(try key("before", fields)) : .after(try key("after", fields))
    }

    private func key(_ name: String, _ fields: ItemFields) throws(ItemError) -> ItemKey {
        let text = String(decoding: try fields.text(name, limit: 1_024), as: UTF8.self)
        guard let key = ItemKey(text, of: kinds) else {
            throw ItemError(field: name, reason: "must be kind:id, kind one of \(kinds.names.joined(separator: ", "))")
        }
        return key
    }
}
