internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import Synchronization

struct HealthRoutes: Sendable {
    let store: any FeedStore
    let ledger: any Ledger
    let state: ServiceState

    static let paths: Set<String> = ["/healthz", "/readyz"]

    let tag: String

    private let readiness = Readiness()

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

    private func ready(_ request: RouteRequest) async throws -> ServerResponse {
        guard !state.isDraining else { throw Problem(.serviceUnavailable, nil, "The service is stopping.", fields: [.retryAfter: "1"]) }
        return Self.response(try await readiness.status { [store, ledger] in try await Self.status(store, ledger) })
    }

    private static func status(_ store: any FeedStore, _ ledger: any Ledger) async throws -> String {
        /// One read decides, so that the wait for a store that does not respond is not doubled.
        func isDegraded() async throws -> Bool {
            try await store.read(for: .page) { snapshot in
                _ = try snapshot.items(in: .content, .forward, of: nil, limit: 1)
                return snapshot.age
            } != nil
        }
        guard try await !isDegraded() else { return "degraded" }
        do {
            try await store.checkReady()
            try await ledger.checkReady()
        } catch {
            // The primary may have gone since the first read.
            guard try await isDegraded() else { throw error }
            return "degraded"
        }
        return "ready"
    }

    static func response(_ status: String) -> ServerResponse {
        .noStore(encoded: Array("{\"status\":\"\(status)\"}".utf8))
    }
}

/// The last known readiness, which is checked again by each request, for at most ``wait``, and for ``limit`` while none is known.
/// Why: a balancer takes a replica out if the response is late. A database that hangs must not keep one that can serve pages from saying
/// so.
final class Readiness: Sendable {
    private static let wait = Duration.milliseconds(200)
    private static let limit = Duration.seconds(1)

    private struct State {
        var began: ContinuousClock.Instant?
        var last: Result<String, any Error>?
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var number = 0
    }

    private let state = Mutex(State())

    func status(_ check: @escaping @Sendable () async throws -> String) async throws -> String {
        let starts = state.withLock { state in
            defer { state.began = state.began ?? .now }
            return state.began == nil
        }
        if starts {
            Task {
                let result: Result<String, any Error>
                do { result = .success(try await check()) } catch { result = .failure(error) }
                let waiters = state.withLock { state in
                    defer { (state.began, state.last, state.waiters) = (nil, result, [:]) }
                    return state.waiters.values
                }
                for waiter in waiters { waiter.resume() }
            }
        }
        await waitForEnd()
        let known = state.withLock { state in
            state.began.map { .now - $0 > Self.limit } == true ? nil : state.last
        }
        guard let known else { throw StoreError.unavailable("a store does not respond") }
        return try known.get()
    }

    private func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let waiter: (number: Int, wait: Duration)? = state.withLock { state in
                guard state.began != nil else { return nil }
                state.number += 1
                state.waiters[state.number] = continuation
                return (state.number, state.last == nil ? Self.limit : Self.wait)
            }
            guard let (number, wait) = waiter else { return continuation.resume() }
            Task {
                try? await Task.sleep(for: wait)
                state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
            }
        }
    }
}
