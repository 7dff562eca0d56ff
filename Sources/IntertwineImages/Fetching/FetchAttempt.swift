/// The state of one transfer and of the requests that wait for it. The type is pure: it returns effects and performs none.
struct FetchAttempt: Sendable {
    enum Stage: String, Sendable, Hashable, CaseIterable {
        case lookup, queued, resolving, connecting, headers, body
        case stored, failed, cancelled

        var isOver: Bool { self == .stored || self == .failed || self == .cancelled }
    }

    /// An effect on the transfer that the caller performs.
    enum Effect: Hashable, Sendable {
        case startGrace, stopGrace
        /// Pauses or resumes the body. Why: bytes that arrive during the grace period may have no reader.
        case pause, resume
        /// Aborts the transfer, which was at this stage.
        case abort(Stage)
    }

    struct Rules: Sendable {
        /// The time for which a download without waiters is kept, for example if a user scrolls back.
        var grace: Duration = .milliseconds(100)
        /// The percentage of received bytes above which an abandoned download completes for the cache.
        /// `nearlyDoneBytes` is the same for remaining bytes.
        var nearlyDonePercent = 80
        var nearlyDoneBytes = 32 * 1_024

        init() {}
    }

    private let rules: Rules
    /// A Boolean value indicating that the cache requested the download (stale-while-revalidate). It then completes without waiters.
    let isOwned: Bool
    private(set) var stage = Stage.lookup
    private(set) var waiters: [UInt64: ImagePriority] = [:]
    private var expected: Int?
    private(set) var received = 0
    private var isPaused = false
    private(set) var isInGrace = false
    /// The number of bytes received when the last waiter left.
    private var receivedAtDeparture: Int?

    init(rules: Rules = Rules(), isOwned: Bool = false) {
        self.rules = rules
        self.isOwned = isOwned
    }

    var priority: ImagePriority { waiters.values.max() ?? .prefetch }

    private var isNearlyDone: Bool {
        guard stage == .body, let expected else { return false }
        let left = max(0, expected - received)
        return left <= rules.nearlyDoneBytes
            || received.multipliedReportingOverflow(by: 100).partialValue / max(1, expected) >= rules.nearlyDonePercent
    }

    /// The number of bytes received after the last waiter had left.
    var receivedForNobody: Int { receivedAtDeparture.map { received - $0 } ?? 0 }

    /// Adds a waiter.
    ///
    /// - Returns: The effects; nil if the download has failed or was cancelled already.
    mutating func join(_ waiter: UInt64, _ priority: ImagePriority) -> [Effect]? {
        guard stage != .failed, stage != .cancelled else { return nil }
        waiters[waiter] = priority
        receivedAtDeparture = nil
        var effects: [Effect] = []
        if isInGrace {
            isInGrace = false
            effects.append(.stopGrace)
        }
        if isPaused {
            isPaused = false
            effects.append(.resume)
        }
        return effects
    }

    mutating func setPriority(_ priority: ImagePriority, of waiter: UInt64) {
        if waiters[waiter] != nil { waiters[waiter] = priority }
    }

    /// Removes a waiter. Calls at any stage and repeated calls are valid.
    mutating func cancel(_ waiter: UInt64) -> [Effect] {
        guard waiters.removeValue(forKey: waiter) != nil, waiters.isEmpty, !stage.isOver, !isOwned else { return [] }
        receivedAtDeparture = received
        isInGrace = true
        return [.startGrace] + pauseIfAbandoned()
    }

    mutating func graceOver() -> [Effect] {
        guard isInGrace, waiters.isEmpty, !stage.isOver else { return [] }
        isInGrace = false
        if isNearlyDone {
            defer { isPaused = false }
            return isPaused ? [.resume] : []
        }
        defer { stage = .cancelled }
        return [.abort(stage)]
    }

    /// Sets the stage. Stages may go backwards: a redirect returns to name resolution, a second attempt to the queue.
    mutating func reach(_ next: Stage) -> [Effect] {
        guard !stage.isOver else { return [] }
        stage = next
        return pauseIfAbandoned()
    }

    mutating func expect(_ bytes: Int?) {
        expected = bytes
    }

    mutating func receive(_ bytes: Int) {
        received += bytes
    }

    private mutating func pauseIfAbandoned() -> [Effect] {
        guard stage == .body, isInGrace, !isPaused, !isNearlyDone else { return [] }
        isPaused = true
        return [.pause]
    }
}

extension FetchAttempt.Stage {
    /// Maps a stage of a transfer; nil for the body, which starts with its head.
    init?(_ stage: FetchStage) {
        switch stage {
        case .resolving: self = .resolving
        case .connecting: self = .connecting
        case .headers: self = .headers
        case .body: return nil
        }
    }
}
