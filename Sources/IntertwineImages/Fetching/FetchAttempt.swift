struct FetchAttempt: Sendable {
    enum Stage: String, Sendable, Hashable, CaseIterable {
        case lookup, queued, resolving, connecting, headers, body
        case stored, failed, cancelled

        var isOver: Bool { self == .stored || self == .failed || self == .cancelled }
    }

    enum Effect: Hashable, Sendable {
        case startGrace, stopGrace
        /// Pauses or resumes the body. Why: bytes that arrive during the grace period may have no reader.
        case pause, resume
        case abort(Stage)
    }

    struct Rules: Sendable {
        var grace: Duration = .milliseconds(100)
        var nearlyDonePercent = 80
        var nearlyDoneBytes = 32 * 1_024
    }

    var rules: Rules = Rules()
    var isOwned: Bool = false
    private(set) var stage = Stage.lookup
    private(set) var waiters: [UInt64: ImagePriority] = [:]
    private(set) var expected: Int?
    private(set) var received = 0
    private(set) var isPaused = false
    private(set) var isInGrace = false
    private(set) var receivedAtDeparture: Int?

    var priority: ImagePriority { waiters.values.max() ?? .prefetch }

    private var isNearlyDone: Bool {
        guard stage == .body, let expected else { return false }
        let left = max(0, expected - received)
        return left <= rules.nearlyDoneBytes
            || received.multipliedReportingOverflow(by: 100).partialValue / max(1, expected) >= rules.nearlyDonePercent
    }

    var receivedForNobody: Int { receivedAtDeparture.map { received - $0 } ?? 0 }

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
    init?(_ stage: FetchStage) {
        switch stage {
        case .resolving: self = .resolving
        case .connecting: self = .connecting
        case .headers: self = .headers
        case .body: return nil
        }
    }
}
