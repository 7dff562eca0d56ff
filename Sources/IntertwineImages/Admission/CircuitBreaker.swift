package import IntertwineHTTPServer
internal import IntertwinePrimitives

/// A host that responds with errors stays reachable, with reduced concurrency until it sends one image. Why: the errors may concern one
/// kind of its URLs, and requests for other URLs must not suffer from them.
package struct CircuitBreaker: Sendable {
    package struct Rules: Sendable {
        package init() {}

        var window: Duration = .seconds(30)
        var leastOutcomes = 10
        var failurePercent = 50
        var openDuration: Duration = .seconds(10)
        var hosts = 1_000
    }

    package enum Outcome: Sendable, Hashable {
        case good
        case badResponse
        case unreachable
    }

    package enum Decision: Equatable {
        case closed
        case probe
        case open(until: MonotonicInstant)
    }

    private struct Host {
        var outcomes: [(at: MonotonicInstant, outcome: Outcome)] = []
        var openUntil: MonotonicInstant?
        var reducedUntil: MonotonicInstant?
        var isProbing = false

        func count(_ outcome: Outcome) -> Int { outcomes.count { $0.outcome == outcome } }
    }

    /// The maximum number of outcomes stored per host. Why: older outcomes say less about the host than the latest ones.
    private static let longest = 64

    private let rules: Rules
    private var hosts: BoundedCache<String, Host>

    package init(rules: Rules = Rules()) {
        self.rules = rules
        hosts = BoundedCache(limit: rules.hosts)
    }

    var openCount: Int { hosts.entries.count { $0.value.openUntil != nil } }

    package mutating func ask(_ host: String, now: MonotonicInstant) -> Decision {
        guard let state = hosts[host], let until = state.openUntil else { return .closed }
        if now < until { return .open(until: until) }
        if state.isProbing { return .open(until: now.advanced(by: .seconds(1))) }
        hosts[host]?.isProbing = true
        return .probe
    }

    func isReduced(_ host: String, now: MonotonicInstant) -> Bool {
        hosts.peek(host)?.reducedUntil.map { now < $0 } ?? false
    }

    package mutating func record(_ host: String, _ outcome: Outcome?, now: MonotonicInstant) {
        var state = hosts[host] ?? Host()
        if state.isProbing {
            state.isProbing = false
            switch outcome {
            case .good?, .badResponse?: state = Host()
            case .unreachable?: state.openUntil = now.advanced(by: rules.openDuration)
            case nil: break
            }
        } else if let outcome, state.openUntil == nil {
            record(outcome, in: &state, now)
        }
        let isNothing = state.outcomes.isEmpty && state.openUntil == nil && state.reducedUntil == nil
        hosts[host] = isNothing ? nil : state
    }

    private func record(_ outcome: Outcome, in state: inout Host, _ now: MonotonicInstant) {
        // One image ends the reduced concurrency.
        if state.reducedUntil != nil, outcome == .good { state = Host() }
        state.outcomes.removeAll { now.since($0.at) > rules.window }
        if state.outcomes.count >= Self.longest { state.outcomes.removeFirst() }
        state.outcomes.append((now, outcome))
        let all = state.outcomes.count
        guard all >= rules.leastOutcomes else { return }
        if state.count(.unreachable) * 100 >= all * rules.failurePercent {
            state = Host(openUntil: now.advanced(by: rules.openDuration))
        } else if outcome == .badResponse, state.count(.badResponse) * 100 >= all * rules.failurePercent {
            state.reducedUntil = now.advanced(by: rules.openDuration)
        }
    }
}
