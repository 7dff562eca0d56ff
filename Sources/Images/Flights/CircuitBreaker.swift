internal import EventLoop

/// Leaves hosts alone that fail most of the time. Pure.
struct CircuitBreaker: Sendable {
    struct Rules: Sendable {
        var window: Duration = .seconds(30)
        /// Fewer outcomes than this say nothing.
        var leastOutcomes = 10
        var failurePercent = 50
        /// How long a host is left alone before one request may try it.
        var rest: Duration = .seconds(10)
        /// Hosts remembered; those that did nothing lately are forgotten first.
        var hosts = 1_000

        init() {}
    }

    enum Verdict: Equatable {
        case closed
        /// This one request finds out whether the host is back.
        case probe
        case open(until: LoopInstant)
    }

    private struct Host {
        var outcomes: [(at: LoopInstant, isGood: Bool)] = []
        var openUntil: LoopInstant?
        var isProbing = false
    }

    /// Outcomes kept per host: what is older says less than the latest ones do.
    private static let longest = 64

    let rules: Rules
    private var hosts: [String: Host] = [:]

    init(rules: Rules = Rules()) {
        self.rules = rules
    }

    var openCount: Int { hosts.values.count { $0.openUntil != nil } }

    mutating func ask(_ host: String, now: LoopInstant) -> Verdict {
        guard let state = hosts[host], let until = state.openUntil else { return .closed }
        if now < until { return .open(until: until) }
        if state.isProbing { return .open(until: now.advanced(by: .seconds(1))) }
        hosts[host]?.isProbing = true
        return .probe
    }

    /// - Parameter isGood: nil where the request was given up and says nothing about the host.
    mutating func record(_ host: String, isGood: Bool?, now: LoopInstant) {
        var state = hosts[host] ?? Host()
        if state.isProbing {
            state.isProbing = false
            switch isGood {
            case true?: state = Host()
            case false?: state.openUntil = now.advanced(by: rules.rest)
            case nil: break
            }
        } else if let isGood, state.openUntil == nil {
            state.outcomes.removeAll { now.since($0.at) > rules.window }
            if state.outcomes.count >= Self.longest { state.outcomes.removeFirst() }
            state.outcomes.append((now, isGood))
            let bad = state.outcomes.count { !$0.isGood }
            if state.outcomes.count >= rules.leastOutcomes, bad * 100 >= state.outcomes.count * rules.failurePercent {
                state = Host(openUntil: now.advanced(by: rules.rest))
            }
        }
        let isNothing = state.outcomes.isEmpty && state.openUntil == nil
        hosts[host] = isNothing ? nil : state
        if hosts.count > rules.hosts { forget(now: now) }
    }

    private mutating func forget(now: LoopInstant) {
        hosts = hosts.filter { $0.value.openUntil != nil || ($0.value.outcomes.last.map { now.since($0.at) <= rules.window } ?? false) }
        guard hosts.count > rules.hosts else { return }
        for host in Array(hosts.keys.prefix(max(1, rules.hosts / 10))) { hosts[host] = nil }
    }
}
