internal import Feed
internal import Foundation
internal import HTTPServer
internal import HTTPTypes
internal import Storage

/// `/admin/items/{kind}/{id}`, and the shorter `/admin/users/{id}` and `/admin/advertisements/{id}`: one item, in the form of the import.
///
/// Nothing is replaced that its writer has not seen: see ``Precondition``.
struct ItemRoutes: Sendable {
    /// The kind of each pattern; nil where the path names it.
    private static let collections = [
        ("/admin/users/{id}", "user"), ("/admin/advertisements/{id}", "advertisement"), ("/admin/items/{kind}/{id}", nil),
    ]

    let store: SQLiteStore
    let kinds: ItemKinds

    var routes: [Route] {
        Self.collections.flatMap { pattern, kind in
            [
                Route(.get, pattern) { try await get($0, kind ?? named(in: $0)) },
                Route(.put, pattern) { try await put($0, kind ?? named(in: $0)) },
                Route(.delete, pattern) { try await remove($0, kind ?? named(in: $0)) },
            ]
        }
    }

    private func named(in request: RouteRequest) throws(Problem) -> String {
        let name = request.parameter("kind")
        guard kinds[name] != nil else { throw Problem(.notFound, .unknownItem, "There is no such kind of item.") }
        return name
    }

    private func get(_ request: RouteRequest, _ kind: String) async throws -> ServerResponse {
        let id = request.parameter("id")
        guard let item = try await store.read({ try $0.item(kind: kind, id: id) }) else { throw Self.missing }
        return Self.response(.ok, StoredItem(item))
    }

    private func put(_ request: RouteRequest, _ kind: String) async throws -> ServerResponse {
        let item = try valid(request.request.body.bytes ?? [], kind, id: request.parameter("id"))
        let wanted = StoredItem(item)
        let precondition = try Precondition(request.head)
        let change = try await store.put(item) { stored in
            try precondition.check(stored.map(StoredItem.init), isFree: { $0 == wanted })
        }
        var response = Self.response(change == .added ? .created : .ok, wanted)
        if change == .added { response.fields[.location] = String((request.head.path ?? "").prefix { $0 != "?" }) }
        return response
    }

    private func remove(_ request: RouteRequest, _ kind: String) async throws -> ServerResponse {
        let precondition = try Precondition(request.head)
        let isGone = try await store.remove(kind: kind, id: request.parameter("id")) { stored in
            guard let stored else { throw Self.missing }
            try precondition.check(StoredItem(stored), isFree: { _ in true })
        }
        guard isGone else { throw Self.missing }
        return ServerResponse(status: .noContent)
    }

    /// The item in the body; its `klass` and `id` may be left out, as the path tells them, but not be others.
    private func valid(_ body: [UInt8], _ kind: String, id: String) throws -> ValidItem {
        do { _ = try JSONSerialization.jsonObject(with: Data(body), options: .fragmentsAllowed) } catch {
            throw Problem(.badRequest, .invalidBody, "The body must be JSON: one object.")
        }
        guard let object = try? JSONObject(body) else {
            throw Problem(.unprocessableContent, .invalidItem, "The body must be one JSON object.")
        }
        do {
            let klass = try ItemFields(object).optionalText("klass", limit: 64)
            guard klass?.elementsEqual(kind.utf8) ?? true else {
                throw ItemFault(field: "klass", reason: "must be \(kind) under this path")
            }
            let item = try kinds.validate(Self.completed(object, kind, id: id))
            guard ExactText(item.id) == ExactText(id) else { throw ItemFault(field: "id", reason: "must be the one of the path") }
            return item
        } catch let fault as ItemFault {
            throw Problem(.unprocessableContent, .invalidItem, "The item is not valid: \(fault).")
        }
    }

    /// The object's bytes as they came, with those of its first members before them that the path tells and it does not.
    private static func completed(_ object: JSONObject, _ kind: String, id: String) -> [UInt8] {
        let names = object.members.map { object.characters(of: $0.name) }
        let missing = [("klass", kind), ("id", id)].filter { name, _ in !names.contains { $0.elementsEqual(name.utf8) } }
        var bytes = Array("{".utf8)
        for (number, (name, value)) in missing.enumerated() {
            if number > 0 { bytes.append(UInt8(ascii: ",")) }
            JSONText.append(name.utf8, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            JSONText.append(value.utf8, to: &bytes)
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
