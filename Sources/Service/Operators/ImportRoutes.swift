internal import Feed
internal import Foundation
internal import HTTPServer
internal import HTTPTypes
internal import Storage

/// `POST /admin/items`: an import, written as it arrives, in one transaction.
struct ImportRoutes: Sendable {
    /// Bad items that an answer names; the rest is counted.
    static let reported = 100

    let database: String
    let kinds: ItemKinds
    let settings: AdminSettings

    private struct Answer: Encodable {
        struct Bad: Encodable {
            var line: Int
            var field: String?
            var reason: String
        }

        var added: Int
        var replaced: Int
        var skipped: Int
        var bytes: Int
        /// The first of the skipped ones.
        var bad: [Bad]
    }

    var routes: [Route] {
        [
            Route(
                .post, "/admin/items", bodyLimit: settings.importLimit.bytes, timeLimit: settings.importDeadline + .seconds(60),
                streamsBody: true
            ) { try await take($0) }
        ]
    }

    private func take(_ request: RouteRequest) async throws -> ServerResponse {
        guard let policy = BadItemPolicy(rawValue: try request.query.text("on-error") ?? "stop") else {
            throw Problem(.badRequest, .invalidParameter, "on-error must be stop or skip.")
        }
        let importing = StreamedImport(into: database, kinds: kinds, policy: policy, reported: Self.reported)
        do {
            for try await piece in request.request.body { try await importing.append(piece) }
            let (summary, bad) = try await importing.commit()
            let answer = Answer(
                added: summary.added, replaced: summary.replaced, skipped: summary.skipped, bytes: summary.bytes,
                bad: bad.map { Answer.Bad(line: $0.line, field: $0.fault.field, reason: $0.fault.reason) })
            return ServerResponse(
                status: .ok, fields: [.contentType: "application/json", .cacheControl: "no-store"],
                body: Array(try JSONEncoder().encode(answer)))
        } catch {
            await importing.rollback()
            guard let bad = error as? BadItem else { throw error }
            throw Problem(.unprocessableContent, .invalidItem, "Nothing was imported: \(bad).")
        }
    }
}
