internal import Synchronization

package final class TokenKeys: Sendable {
    package typealias Fetch = @Sendable () async throws -> [UInt8]

    package enum Event: Sendable {
        case loaded(keys: [String], ignored: [String])
        case failed(String, keepsKeys: Bool)
    }

    /// The minimum number of milliseconds between two reloads that tokens cause.
    static let retryInterval: Int64 = 10_000
    static let maximumWaiters = 256

    private struct State: Sendable {
        var keys: KeySet?
        var reload: Task<Event, Never>?
        var isStopped = false
        var waiters = 0
        /// The time of the last reload in milliseconds since 1970-01-01 UTC.
        var reloaded: Int64?
        var loaded: Int64?
        var loads = 0
        var failures = 0
    }

    private let state: Mutex<State>
    private let fetch: Fetch?
    private let origin: KeyDocument.Origin
    private let algorithms: Set<SignatureAlgorithm>
    private let onReload: @Sendable (Event) -> Void

    package init(_ documents: [KeyDocument]) {
        state = Mutex(State(keys: KeySet(documents.flatMap(\.keys))))
        (fetch, origin, algorithms, onReload) = (nil, .file, [], { _ in })
    }

    /// HS256 has no effect on a remote document, because anyone could sign with a published secret.
    package init(
        origin: KeyDocument.Origin = .remote, algorithms: Set<SignatureAlgorithm>, fetch: @escaping Fetch,
        onReload: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        state = Mutex(State())
        (self.fetch, self.origin, self.algorithms, self.onReload) = (fetch, origin, algorithms, onReload)
    }

    package var current: KeySet? { state.withLock { $0.keys } }

    package var statistics: (keys: Int, loads: Int, failures: Int, loaded: Int64?) {
        state.withLock { ($0.keys?.keys.count ?? 0, $0.loads, $0.failures, $0.loaded) }
    }

    @discardableResult
    package func reload(now: Int64) async -> Event? { await state.withLock({ reload(&$0, now: now) })?.value }

    /// Cancels the load that runs, and each later one, so that the end of a service does not wait for another server.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            return state.reload
        }?.cancel()
    }

    /// If there is none, the document is loaded again, unless that happened just now.
    func candidates(for token: CompactToken, now: Int64) async throws(TokenError) -> [VerificationKey] {
        if let found = current?.candidates(for: token), !found.isEmpty { return found }
        try await reloadForToken(now: now)
        guard let keys = current else { throw .keysUnavailable }
        let found = keys.candidates(for: token)
        guard !found.isEmpty else { throw .unknownKey }
        return found
    }

    private func reloadForToken(now: Int64) async throws(TokenError) {
        let (running, isRejected) = state.withLock { state -> (Task<Event, Never>?, Bool) in
            // A clock that was set back does not delay the reload.
            let isRecent = state.reloaded.map { $0 <= now && now - $0 < Self.retryInterval } ?? false
            guard state.reload != nil || !isRecent else { return (nil, false) }
            guard state.waiters < Self.maximumWaiters else { return (nil, true) }
            guard let running = reload(&state, now: now) else { return (nil, false) }
            state.waiters += 1
            return (running, false)
        }
        guard !isRejected else { throw .keysUnavailable }
        guard let running else { return }
        _ = await running.value
        state.withLock { $0.waiters -= 1 }
    }

    private func reload(_ state: inout State, now: Int64) -> Task<Event, Never>? {
        guard let fetch else { return nil }
        if let running = state.reload { return running }
        state.reloaded = now
        let reload = Task { [self] in
            let event = await load(fetch)
            self.state.withLock { state in
                state.reload = nil
                if case .loaded = event {
                    state.loads += 1
                    state.loaded = now
                } else {
                    state.failures += 1
                }
            }
            if !Task.isCancelled { onReload(event) }
            return event
        }
        if state.isStopped { reload.cancel() }
        state.reload = reload
        return reload
    }

    private func load(_ fetch: Fetch) async -> Event {
        let document: KeyDocument
        do {
            document = try KeyDocument(try await fetch(), origin: origin, algorithms: algorithms)
        } catch {
            return .failed("\(error)", keepsKeys: current?.keys.isEmpty == false)
        }
        state.withLock { state in
            guard var keys = state.keys else {
                state.keys = KeySet(document.keys)
                return
            }
            keys.replace(by: KeySet(document.keys))
            state.keys = keys
        }
        return .loaded(keys: document.keys.map { $0.id ?? "" }, ignored: document.ignored)
    }
}
