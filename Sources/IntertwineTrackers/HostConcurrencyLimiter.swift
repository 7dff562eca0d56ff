internal import Synchronization

/// The calls under way, and what is known of the hosts that are called.
///
/// A host whose calls are answered has several places. One that has not answered yet, or that failed lately, has one, and all of those together
/// have half of all: however many are dead, hosts that answer are called. Who failed is asked again after a pause that doubles.
final class HostConcurrencyLimiter: Sendable {
    enum Answer: Equatable {
        case acquired
        /// There may be a place in so many milliseconds. Others are not to wait behind this call meanwhile.
        case full(wait: Int64)
        /// The host did not answer another call a moment ago.
        case silent
    }

    private struct Host {
        var inUse = 0
        /// Of late, in milliseconds; nil before the first answer.
        var duration: Int64?
        var isProven = false
        /// In a row.
        var failures = 0
        /// The pause ends then.
        var silentUntil: Int64 = 0
        /// Those that were told to wait since the last place was free.
        var backlog: Int64 = 0
    }

    private struct State {
        var hosts: [String: Host] = [:]
        /// Hosts that are not proven and have their place.
        var tried: Set<String> = []
        var inUse = 0
    }

    /// Milliseconds that a call waits where all of its host's places are taken: no less, and no more, however slow the host.
    private static let waits: ClosedRange<Int64> = 50...5_000
    /// The same for a host whose first answer is still to come.
    private static let firstWait: Int64 = 250
    /// After so many failures in a row a host that has answered before is as one that has not.
    private static let mostFailures = 3
    /// Milliseconds: the first pause and the longest.
    private static let pauses: (first: Int64, longest: Int64) = (5_000, 60_000)
    /// Hosts that nobody calls at the moment are remembered up to so many.
    private static let rememberedLimit = 1_000

    private let limits: (all: Int, host: Int)
    private let state = Mutex(State())

    init(all: Int, host: Int) {
        limits = (all, host)
    }

    var free: Int { limits.all - state.withLock { $0.inUse } }

    /// - Parameter now: milliseconds of a clock that only goes on.
    func acquire(_ name: String, now: Int64) -> Answer {
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

    /// - Parameter isAnswered: nil where the call was cancelled, which says nothing of its host.
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
