internal import IntertwineEventLoop

/// Leaves hosts alone that cannot be reached most of the time, and is gentle with those that answer badly. Pure.
///
/// A host that answers is there: what fails may be one kind of its URLs, and the others must not suffer for it. It is asked for fewer
/// pictures at once until one of them comes.
struct CircuitBreaker: Sendable {
    struct Rules: Sendable {
        var window: Duration = .seconds(30)
        /// Fewer outcomes than this say nothing.
        var leastOutcomes = 10
        var failurePercent = 50
        /// How long a host is left alone before one request may try it, or is asked gently after its last bad answer.
        var openDuration: Duration = .seconds(10)
        /// Hosts remembered; those that did nothing lately are forgotten first.
        var hosts = 1_000

        init() {}
    }

    enum Outcome: Sendable, Hashable {
        case good
        /// It was reached, and what came back was no use.
        case badResponse
        case unreachable
    }

    enum Decision: Equatable {
        case closed
        /// This one request finds out whether the host is back.
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

    /// Outcomes kept per host: what is older says less than the latest ones do.
    private static let longest = 64

    private let rules: Rules
    private var hosts: [String: Host] = [:]

    init(rules: Rules = Rules()) {
        self.rules = rules
    }

    var openCount: Int { hosts.values.count { $0.openUntil != nil } }

    mutating func ask(_ host: String, now: MonotonicInstant) -> Decision {
        guard let state = hosts[host], let until = state.openUntil else { return .closed }
        if now < until { return .open(until: until) }
        if state.isProbing { return .open(until: now.advanced(by: .seconds(1))) }
        hosts[host]?.isProbing = true
        return .probe
    }

    /// Whether the host is to be asked for few pictures at once.
    func isReduced(_ host: String, now: MonotonicInstant) -> Bool {
        hosts[host]?.reducedUntil.map { now < $0 } ?? false
    }

    /// - Parameter outcome: nil where the request was given up and says nothing about the host.
    mutating func record(_ host: String, _ outcome: Outcome?, now: MonotonicInstant) {
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
        if hosts.count > rules.hosts { forget(now: now) }
    }

    private func record(_ outcome: Outcome, in state: inout Host, _ now: MonotonicInstant) {
        // It is over as soon as one picture comes.
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

    private mutating func forget(now: MonotonicInstant) {
        hosts = hosts.filter { $0.value.openUntil != nil || ($0.value.outcomes.last.map { now.since($0.at) <= rules.window } ?? false) }
        guard hosts.count > rules.hosts else { return }
        for host in Array(hosts.keys.prefix(max(1, rules.hosts / 10))) { hosts[host] = nil }
    }
}
