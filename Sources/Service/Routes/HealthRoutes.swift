internal import Feed
internal import HTTPServer
internal import HTTPTypes

/// `GET /healthz` (the process answers) and `GET /readyz` (it can serve).
struct HealthRoutes: Sendable {
    let store: any FeedStore
    let ledger: any Ledger
    let state: ServiceState

    var routes: [Route] {
        [
            Route(.get, "/healthz") { _ in Self.answer("ok") },
            Route(.get, "/readyz") { try await ready($0) },
        ]
    }

    /// - Throws: ``Problem`` (503) while the service drains, or ``StoreError`` where a store does not answer.
    private func ready(_ request: RouteRequest) async throws -> ServerResponse {
        guard !state.isDraining else { throw Problem(.serviceUnavailable, nil, "The service is stopping.", fields: [.retryAfter: "1"]) }
        _ = try await store.read { try $0.items(in: .content, .forward, of: nil, limit: 1).count }
        _ = try await ledger.selection(id: "")
        return Self.answer("ready")
    }

    private static func answer(_ status: String) -> ServerResponse {
        ServerResponse(
            status: .ok, fields: [.contentType: "application/json", .cacheControl: "no-store"],
            body: Array("{\"status\":\"\(status)\"}".utf8))
    }
}
