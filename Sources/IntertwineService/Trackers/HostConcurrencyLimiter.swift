internal import Synchronization

/// All unproven hosts together use at most half of the total limit, so that unresponsive hosts cannot block responsive ones.
final class HostConcurrencyLimiter: Sendable {
    enum Admission: Equatable {
        case acquired
        /// A retry may succeed after `wait` milliseconds; calls to other hosts must not wait for it.
        case full(wait: Int64)
        case silent
    }

    private struct Host {
        var inUse = 0
        /// The moving average of response times in milliseconds; nil before the first response.
        var duration: Int64?
        var isProven = false
        var failures = 0
        var silentUntil: Int64 = 0
        var backlog: Int64 = 0
    }

    private struct State {
        var hosts: [String: Host] = [:]
        var tried: Set<String> = []
        var inUse = 0
    }

    /// The bounds of the retry delay in milliseconds for a host at its limit.
    private static let waits: ClosedRange<Int64> = 50...5_000
    /// The retry delay in milliseconds for a host without a response so far.
    private static let firstWait: Int64 = 250
    private static let mostFailures = 3
    /// The first and the longest pause after a failure, in milliseconds.
    private static let pauses: (first: Int64, longest: Int64) = (5_000, 60_000)
    private static let rememberedLimit = 1_000

    private let limits: (all: Int, host: Int)
    private let state = Mutex(State())

    init(all: Int, host: Int) {
        limits = (all, host)
    }

    var free: Int { limits.all - state.withLock { $0.inUse } }

    func acquire(_ name: String, now: Int64) -> Admission {
        state.withLock { state in
            var host = state.hosts[name] ?? Host()
            defer { state.hosts[name] = host }
            if !host.isProven {
                if host.failures > 0, now < host.silentUntil || host.inUse > 0 { return .silent }
                guard host.inUse == 0, state.tried.count < limits.all / 2 else { return .full(wait: Self.firstWait) }
                state.tried.insert(name)
            } else if host.inUse >= limits.host {
                host.backlog += 1
                let turns = (host.backlog + Int64(limits.host) - 1) / Int64(limits.host)
                let wait = (host.duration ?? 0).multipliedReportingOverflow(by: turns)
                let bounded = wait.overflow ? Self.waits.upperBound : wait.partialValue
                return .full(wait: min(Self.waits.upperBound, max(Self.waits.lowerBound, bounded)))
            }
            host.inUse += 1
            state.inUse += 1
            return .acquired
        }
    }

    func release(_ name: String, duration milliseconds: Int64, hasResponse: Bool?, now: Int64) {
        state.withLock { state in
            guard var host = state.hosts[name] else { return }
            host.inUse -= 1
            host.backlog = 0
            state.inUse -= 1
            state.tried.remove(name)
            switch hasResponse {
            case true?:
                host.duration = host.duration.map { ($0 * 3 + milliseconds) / 4 } ?? milliseconds
                (host.isProven, host.failures) = (true, 0)
            case false?:
                host.failures += 1
                if host.failures >= Self.mostFailures { host.isProven = false }
                let pause = min(Self.pauses.longest, Self.pauses.first << Int64(min(host.failures - 1, 10)))
                host.silentUntil = now &+ pause
            case nil: break
            }
            state.hosts[name] = host
            if state.hosts.count > Self.rememberedLimit { state.hosts = state.hosts.filter { $0.value.inUse > 0 } }
        }
    }
}
