internal import IntertwineFetch

/// Who waits for one source, and what becomes of its transfer when they come and go. Pure: it says what to do and does nothing.
struct FetchAttempt: Sendable {
    enum Stage: String, Sendable, Hashable, CaseIterable {
        case lookup, queued, resolving, connecting, headers, body
        case stored, failed, cancelled

        var isOver: Bool { self == .stored || self == .failed || self == .cancelled }
    }

    /// What is to be done about the transfer.
    enum Effect: Hashable, Sendable {
        case startGrace, stopGrace
        /// Stop and go on reading the body: what comes in during the grace may be for nobody.
        case pause, resume
        /// Give the transfer up; it stood at this stage.
        case abort(Stage)
    }

    struct Rules: Sendable {
        /// How long an abandoned flight is kept for somebody who scrolls back.
        var grace: Duration = .milliseconds(100)
        /// An abandoned flight with this share of its bytes, or with so few bytes to go, is finished for the cache.
        var nearlyDonePercent = 80
        var nearlyDoneBytes = 32 * 1_024

        init() {}
    }

    private let rules: Rules
    /// The cache itself wants the result (stale-while-revalidate): it is finished whoever leaves.
    let isOwned: Bool
    private(set) var stage = Stage.lookup
    private(set) var waiters: [UInt64: ImagePriority] = [:]
    private var expected: Int?
    private(set) var received = 0
    private var isPaused = false
    private var inGrace = false
    /// How much had come when the last waiter left.
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

    /// Bytes that came after the last waiter had left.
    var receivedForNobody: Int { receivedAtDeparture.map { received - $0 } ?? 0 }

    /// Nil where it is too late: the flight has failed or was given up.
    mutating func join(_ waiter: UInt64, _ priority: ImagePriority) -> [Effect]? {
        guard stage != .failed, stage != .cancelled else { return nil }
        waiters[waiter] = priority
        receivedAtDeparture = nil
        var effects: [Effect] = []
        if inGrace {
            inGrace = false
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

    /// Legal at every stage, and twice.
    mutating func cancel(_ waiter: UInt64) -> [Effect] {
        guard waiters.removeValue(forKey: waiter) != nil, waiters.isEmpty, !stage.isOver, !isOwned else { return [] }
        receivedAtDeparture = received
        inGrace = true
        return [.startGrace] + pauseIfAbandoned()
    }

    mutating func graceOver() -> [Effect] {
        guard inGrace, waiters.isEmpty, !stage.isOver else { return [] }
        inGrace = false
        if isNearlyDone {
            defer { isPaused = false }
            return isPaused ? [.resume] : []
        }
        defer { stage = .cancelled }
        return [.abort(stage)]
    }

    /// Stages may go backwards: a redirect begins with a name again, a second attempt with the queue.
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
        guard stage == .body, inGrace, !isPaused, !isNearlyDone else { return [] }
        isPaused = true
        return [.pause]
    }
}

extension FetchAttempt.Stage {
    /// Nil for the body: only its head begins that.
    init?(_ stage: FetchStage) {
        switch stage {
        case .resolving: self = .resolving
        case .connecting: self = .connecting
        case .headers: self = .headers
        case .body: return nil
        }
    }
}
