internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer

/// The routes `GET /healthz` (the process responds) and `GET /readyz` (the service can serve).
struct HealthRoutes: Sendable {
    let store: any FeedStore
    let ledger: any Ledger
    let state: ServiceState

    /// The paths of the routes. The admin listener serves them without the token, as probes of orchestrators need.
    static let paths: Set<String> = ["/healthz", "/readyz"]

    /// The tag of the routes in the API description.
    let tag: String

    var routes: [Route] {
        let stopping = ResponseDescription.problem(
            .serviceUnavailable, "The service is stopping, or a store does not respond.",
            [.storeUnavailable, .init(nil, "The service is stopping.")], [.problemCaching, .retryAfter])
        return [
            Route(
                .get, "/healthz",
                APIOperation("getHealth", tag: tag, "Check liveness", responses: Self.responses("The process responds.", "ok"))
            ) { _ in Self.response("ok") },
            Route(
                .get, "/readyz",
                APIOperation(
                    "getReadiness", tag: tag, "Check readiness",
                    """
                    The service is ready if its stores respond and it is not stopping. While it serves pages from a standby, because the \
                    primary is away (`store.degraded-reads`), the status is `degraded`.
                    """,
                    responses: Self.responses("The service is ready.", "ready") + [stopping])
            ) { try await ready($0) },
        ]
    }

    private static func responses(_ text: String, _ status: String) -> [ResponseDescription] {
        let health = Schema.object([.required("status", .words(["ok", "ready", "degraded"]))]).named("Health")
        return [
            .json(.ok, text, health, [.noStore], example: #"{"status": "\#(status)"}"#), .notModified, .preconditionFailed,
        ]
    }

    /// Returns the readiness of the service.
    ///
    /// - Throws: ``Problem`` (503) while the service drains, or `StoreError` if the store does not respond or the ledger accepts no click.
    private func ready(_ request: RouteRequest) async throws -> ServerResponse {
        guard !state.isDraining else { throw Problem(.serviceUnavailable, nil, "The service is stopping.", fields: [.retryAfter: "1"]) }
        // One read decides, so that the wait for a store that does not respond is not doubled.
        let age = try await store.read(for: .page) { snapshot in
            _ = try snapshot.items(in: .content, .forward, of: nil, limit: 1)
            return snapshot.age
        }
        guard age == nil else { return Self.response("degraded") }
        try await store.checkReady()
        try await ledger.checkReady()
        return Self.response("ready")
    }

    static func response(_ status: String) -> ServerResponse {
        .noStore(encoded: Array("{\"status\":\"\(status)\"}".utf8))
    }
}
