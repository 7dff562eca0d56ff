internal import Synchronization

/// The current keys. They are fixed, or loaded from a document that is read again from time to time.
///
/// A reload that fails leaves the last set in place. A set without members replaces it: the provider has revoked all keys. A token with an unknown
/// key causes a reload, but at most one within ``retryInterval``, so tokens with invented keys do not reach the origin of the document.
package final class TokenKeys: Sendable {
    /// Returns the bytes of the document. The caller's own client bounds their number and the time.
    package typealias Fetch = @Sendable () async throws -> [UInt8]

    /// The outcome of a reload, for the log.
    package enum Event: Sendable {
        /// - Parameter ignored: The reasons for which keys of the document are not used.
        case loaded(keys: [String], ignored: [String])
        /// - Parameter keepsKeys: True if there are keys of an earlier reload, which stay valid.
        case failed(String, keepsKeys: Bool)
    }

    /// The minimum number of milliseconds between two reloads that tokens cause.
    static let retryInterval: Int64 = 10_000
    /// The maximum number of verifications that wait for a reload. More are rejected.
    static let maximumWaiters = 256

    private struct State: Sendable {
        var keys: KeySet?
        var reload: Task<Event, Never>?
        var isStopped = false
        var waiters = 0
        /// The time of the last reload in milliseconds since 1970-01-01 UTC.
        var reloaded: Int64?
        /// The time of the last reload that succeeded.
        var loaded: Int64?
        var loads = 0
        var failures = 0
    }

    private let state: Mutex<State>
    private let fetch: Fetch?
    private let origin: KeyDocument.Origin
    private let algorithms: Set<SignatureAlgorithm>
    private let onReload: @Sendable (Event) -> Void

    /// Creates a fixed set.
    package init(_ documents: [KeyDocument]) {
        state = Mutex(State(keys: KeySet(documents.flatMap(\.keys))))
        (fetch, origin, algorithms, onReload) = (nil, .file, [], { _ in })
    }

    /// Creates a set that ``reload(now:)`` loads.
    ///
    /// - Parameters:
    ///   - origin: The provider of the document.
    ///   - algorithms: The accepted algorithms. HS256 has no effect on a remote document, because anyone could sign with a published secret.
    ///   - onReload: Is called after each reload that ``stop()`` did not cancel.
    package init(
        origin: KeyDocument.Origin = .remote, algorithms: Set<SignatureAlgorithm>, fetch: @escaping Fetch,
        onReload: @escaping @Sendable (Event) -> Void = { _ in }
    ) {
        state = Mutex(State())
        (self.fetch, self.origin, self.algorithms, self.onReload) = (fetch, origin, algorithms, onReload)
    }

    /// The present set; nil before the first successful load.
    package var current: KeySet? { state.withLock { $0.keys } }

    /// The numbers of keys, of reloads and of failed reloads, and the time of the last reload that succeeded.
    package var statistics: (keys: Int, loads: Int, failures: Int, loaded: Int64?) {
        state.withLock { ($0.keys?.keys.count ?? 0, $0.loads, $0.failures, $0.loaded) }
    }

    /// Loads the document, or waits for the load that runs.
    ///
    /// - Parameter now: Milliseconds since 1970-01-01 UTC.
    /// - Returns: The outcome; nil if the set is fixed.
    @discardableResult
    package func reload(now: Int64) async -> Event? { await state.withLock({ reload(&$0, now: now) })?.value }

    /// Cancels the load that runs, and each later one, so that the end of a service does not wait for another server.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            return state.reload
        }?.cancel()
    }

    /// Returns the keys that may have signed a token. If there is none, the document is loaded again, unless that happened just
    /// now.
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

    /// Returns the running reload, or starts one; nil if the set is fixed.
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
