internal import Foundation
internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineRouting
internal import IntertwineStorage

/// `POST /admin/operations`: a list of operations on the store, all of them or none.
struct OperationRoutes: Sendable {
    /// Bytes.
    static let bodyLimit = 4 << 20

    let store: SQLiteStore
    let kinds: ItemKinds

    private struct Answer: Encodable {
        var inserted: Int
        var moved: Int
        var updated: Int
        var removed: Int
    }

    var routes: [Route] {
        let operation = APIOperation(
            "operate", tag: "Items", "Do a list of operations, all or none",
            "In their order and in one transaction. Operations are counted from 0 in what a refusal says.",
            body: RequestBodyDescription(
                .list(of: .operation, maximum: SQLiteStore.operationLimit),
                example: #"[{"move": "user:Cash", "before": "user:Glasses"}, {"remove": "user:tt"}]"#),
            answers: [
                .json(
                    .ok, "All were done.", .operated, [.noStore],
                    example: #"{"inserted": 0, "moved": 1, "updated": 0, "removed": 1}"#),
                .badRequest(
                    "The body is no JSON array, or the request cannot be understood at all.",
                    [.init(.invalidBody, "The body must be a JSON array of operations: expected an array, at byte 0.")]),
                .forbidden,
                .problem(
                    .preconditionFailed, "An item has another tag by now, and nothing was done.",
                    [
                        .init(
                            .preconditionFailed, "Nothing was done. Operation 0, counted from 0: the item is another one by now.")
                    ]),
                .contentTooLarge,
                .problem(
                    .unprocessableContent, "An operation cannot be done, and nothing was.",
                    [.init(.invalidOperation, "Nothing was done. Operation 1, counted from 0: there is no user:nobody.")]),
                .storeUnavailable,
            ])
        // To clear a section of millions takes its time.
        return [Route(.post, "/admin/operations", operation, bodyLimit: Self.bodyLimit, timeLimit: .seconds(120)) { try await apply($0) }]
    }

    private func apply(_ request: RouteRequest) async throws -> ServerResponse {
        let listed = try OperationReader(kinds: kinds).read(request.request.body.bytes ?? [])
        let tags = listed.map(\.tag)
        do {
            let summary = try await store.apply(listed.map(\.operation)) { index, item in
                guard let tag = tags[index], tag != StoredItem(item).entityTag else { return }
                throw Problem(
                    .preconditionFailed, .preconditionFailed,
                    "Nothing was done. Operation \(index), counted from 0: the item is another one by now.")
            }
            let keys = listed.compactMap(\.operation.key) + summary.cleared
            AuditNote.current?.tell(
                ["inserted": summary.inserted, "moved": summary.moved, "updated": summary.updated, "removed": summary.removed].filter {
                    $0.value > 0
                }, items: keys.lazy.map(\.description))
            let answer = Answer(inserted: summary.inserted, moved: summary.moved, updated: summary.updated, removed: summary.removed)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            return ServerResponse(
                status: .ok, fields: [.contentType: "application/json", .cacheControl: "no-store"], body: Array(try encoder.encode(answer)))
        } catch let fault as StoreOperationFault {
            throw OperationReader.problem(fault.index, fault.reason)
        }
    }
}
