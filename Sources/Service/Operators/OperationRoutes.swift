internal import Feed
internal import Foundation
internal import HTTPServer
internal import HTTPTypes
internal import Storage

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
        // To clear a section of millions takes its time.
        [Route(.post, "/admin/operations", bodyLimit: Self.bodyLimit, timeLimit: .seconds(120)) { try await apply($0) }]
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
