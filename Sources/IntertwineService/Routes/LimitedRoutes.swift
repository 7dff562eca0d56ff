internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import Synchronization

struct LimitedRoutes: Sendable {
    let limiter: WriteLimiter
    let clients: ClientReader
    let refusals: WriteRefusals

    func limiting(_ routes: [Route], as group: WriteLimiter.Group) -> [Route] {
        routes.map { route in
            var limited = route
            limited.handle = { request in
                let isDryRun = try group == .actions && request[FeedParameters.dryRun]
                if !isDryRun { try await admit(request, on: route, as: group) }
                return try await route.handle(request)
            }
            let hasForbidden = limited.operation?.responses.contains { $0.status == ResponseDescription.refusedWrite.status } ?? false
            if !hasForbidden { limited.operation?.responses.append(.refusedWrite) }
            limited.operation?.responses.append(.tooManyWrites)
            return limited
        }
    }

    private func admit(_ request: RouteRequest, on route: Route, as group: WriteLimiter.Group) async throws(Problem) {
        let peer = request.request.peer.address
        let address = clients.address(of: request.head, from: peer)
        let viewer = try await clients.identity(of: request).viewer
        guard let seconds = limiter.wait(group, address: address, viewer: viewer, now: request.now) else { return }
        if let kind = Self.kind(route) { refusals.note(kind) }
        throw Problem(
            .tooManyRequests, .rateLimited, "Too many writes of this viewer or address. Try again later.",
            fields: [.retryAfter: String(seconds)])
    }

    /// The kind depends on the route only, because clients choose paths.
    private static func kind(_ route: Route) -> LedgerEvent.Kind? {
        switch route.pattern {
        case "/cells/{id}/selection": route.method == .delete ? .deselection : .selection
        case "/cells/{id}/dismissal": .dismissal
        case "/cells/{id}/{slot}": LedgerEvent.Kind(rawValue: "own-slot")
        case "/events": .impression
        case "/clients/{name}", PlaygroundRoutes.path: nil
        default: .undo
        }
    }
}

/// Counts refused writes in the ledger by kind, with the verdict `limited`.
/// Refused writes have no rows, and at most one ledger write is in progress at a time.
final class WriteRefusals: Sendable {
    private struct State {
        var counts: [RejectedEvent: Int] = [:]
        var isWriting = false
    }

    private let ledger: any Ledger
    private let state = Mutex(State())

    init(_ ledger: any Ledger) {
        self.ledger = ledger
    }

    func note(_ kind: LedgerEvent.Kind) {
        let begins = state.withLock { state in
            state.counts[RejectedEvent(kind, .limited), default: 0] += 1
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { write() }
    }

    private func write() {
        let counts = state.withLock { state in
            defer { state.counts = [:] }
            state.isWriting = !state.counts.isEmpty
            return state.counts
        }
        guard !counts.isEmpty else { return }
        // A failure of this write is ignored; it loses only counts of refusals.
        ledger.commit(LedgerEntry(refused: counts)) { [self] _ in write() }
    }
}

extension ResponseDescription {
    static let tooManyWrites = problem(
        .tooManyRequests,
        """
        The address or the viewer writes too often (`limits.writes-per-address`, `limits.writes-per-viewer`); or the address sent too many \
        rejected tokens (`limits.rejected-tokens-per-address`).
        """,
        [.init(.rateLimited, "Too many writes of this viewer or address. Try again later.")], [.noStore, .retryAfter]
    ).named("TooManyWrites")
}
