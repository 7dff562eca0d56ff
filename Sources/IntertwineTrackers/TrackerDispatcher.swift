internal import IntertwineEventLoop
package import IntertwineFeed
package import IntertwineFetch
package import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Tells third parties of the ads that were seen and clicked: calls their URLs once the events are on disk, again and again until they
/// answer, and gives up after so many attempts. Nobody who asks for anything here waits for that.
package struct TrackerDispatcher: ServiceLifecycle.Service {
    /// Calls under way at once, and of those to one host.
    private static let atOnce = (all: 64, host: 8)
    /// How long a call may take, and for how long nobody else takes it: milliseconds.
    private static let lease: Int64 = 30_000
    /// The first wait after a failure, which doubles, and the longest: milliseconds.
    private static let waits: (first: Int64, longest: Int64) = (5_000, 3_600_000)

    package let metrics = TrackerMetrics()
    private let ledger: any TrackerLedger
    private let sources: [any TrackerSource]
    private let calls: @Sendable () -> TrackerCalls
    private let policy: AddressPolicy
    private let settings: TrackerSettings
    /// Milliseconds since 1970-01-01 UTC.
    private let now: @Sendable () -> Int64
    private let logger: Logger
    private let certificates: String?

    /// - Parameters:
    ///   - sources: whom an event has called is what all of them say.
    ///   - now: milliseconds since 1970-01-01 UTC.
    ///   - certificates: of the authorities that are trusted; the system's where nil.
    package init(
        ledger: any TrackerLedger, sources: [any TrackerSource], calls: @escaping @Sendable () -> TrackerCalls, policy: AddressPolicy,
        settings: TrackerSettings = TrackerSettings(), certificates: String? = nil, now: @escaping @Sendable () -> Int64, logger: Logger
    ) {
        self.ledger = ledger
        self.sources = sources
        self.calls = calls
        self.policy = policy
        self.settings = settings
        self.certificates = certificates
        self.now = now
        self.logger = logger
    }

    package func run() async throws {
        let loop = try EventLoop(label: "trackers")
        let transfers = CurlClient(on: loop, policy: policy, certificates: certificates)
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                let places = HostConcurrencyLimiter(all: Self.atOnce.all, host: Self.atOnce.host)
                while !Task.isCancelled {
                    let due = await round(places)
                    for (call, url) in due ?? [] {
                        group.addTask {
                            let begun = Self.monotonic
                            let answer = await TrackerFetch.response(url, on: transfers)
                            let ended = Self.monotonic
                            places.release(url.host, duration: ended - begun, hasResponse: Self.hasResponse(answer), now: ended)
                            await record([call.id: outcome(of: call, answer)], of: call)
                        }
                    }
                    // Where all that was due leads to hosts that are silent, what stands behind it is looked at next.
                    if due?.isEmpty == true { continue }
                    do { try await Task.sleep(for: due != nil ? .milliseconds(50) : .milliseconds(500)) } catch { break }
                }
                group.cancelAll()
            }
        }
        await transfers.shutDown()
        loop.stop()
    }

    /// Milliseconds of a clock that only goes on.
    private static var monotonic: Int64 { MonotonicInstant.now().nanoseconds / 1_000_000 }

    /// Notes what is to be called, and takes the calls that are due, as far as there is room.
    ///
    /// - Returns: what is to be called now; nil where nothing is due.
    private func round(_ places: HostConcurrencyLimiter) async -> [(TrackerCall, FetchURL)]? {
        do {
            let ousted = try await ledger.enqueueTrackerCalls(waiting: settings.waiting, now: now()) { [sources, calls] events in
                guard !events.isEmpty else { return [] }
                var made: [TrackerCall] = []
                let calls = calls()
                for source in sources {
                    let trackers = try await source.trackers(of: events.map(\.event))
                    for (event, trackers) in zip(events, trackers) { made += calls.calls(of: event, trackers) }
                }
                return made
            }
            metrics.recordAbandoned(ousted)
            let due = try await ledger.leaseTrackerCalls(places.free, now: now(), lease: Self.lease)
            var settled: [Int64: TrackerOutcome] = [:]
            var begun: [(TrackerCall, FetchURL)] = []
            for call in due {
                guard let url = try? FetchURL(call.url) else {
                    settled[call.id] = .abandoned(FetchError.malformedURL.rawValue)
                    continue
                }
                switch places.acquire(url.host, now: Self.monotonic) {
                case .acquired: begun.append((call, url))
                case .full(let wait): settled[call.id] = .untried(again: now() &+ wait)
                case .silent: settled[call.id] = failed(call, "host-silent")
                }
            }
            metrics.record(settled.values)
            do {
                try await ledger.completeTrackerCalls(settled, now: now())
                if metrics.wantsSummary { metrics.record(try await ledger.trackerSummary()) }
            } catch {
                // What was taken is called all the same; the rest is taken again when its time is over.
                logger.error("calls of trackers cannot be noted", metadata: ["error": "\(error)"])
            }
            return due.isEmpty ? nil : begun
        } catch is CancellationError {
            return nil
        } catch {
            logger.error("trackers cannot be called: the ledger is not there", metadata: ["error": "\(error)"])
            do { try await Task.sleep(for: .seconds(5)) } catch {}
            return nil
        }
    }

    /// Also where the service is stopping meanwhile: what was called is not called again.
    private func record(_ outcomes: [Int64: TrackerOutcome], of call: TrackerCall) async {
        metrics.record(outcomes.values)
        for case .abandoned(let failure) in outcomes.values {
            logger.warning(
                "a tracker is given up", metadata: ["event": "\(call.event)", "campaign": "\(call.campaign)", "reason": "\(failure)"])
        }
        await Task.detached { [ledger, now, logger] in
            do {
                try await ledger.completeTrackerCalls(outcomes, now: now())
            } catch {
                logger.error("a tracker's answer cannot be noted: it is called again", metadata: ["error": "\(error)"])
            }
        }.value
    }

    /// Whether a host is there, whatever it says; nil where it was not asked to the end.
    private static func hasResponse(_ answer: Result<Int, FetchError>) -> Bool? {
        switch answer {
        case .success: true
        case .failure(.cancelled), .failure(.shuttingDown): nil
        // A policy's refusal costs nothing, and says nothing of the next call.
        case .failure(let reason): refusals.contains(reason)
        }
    }

    private func outcome(of call: TrackerCall, _ answer: Result<Int, FetchError>) -> TrackerOutcome {
        switch answer {
        case .success(let status) where (200..<400).contains(status): return .succeeded
        case .success(let status):
            // Whoever says that there is nothing, or not for us, has heard of it.
            let isFinal = (400..<500).contains(status) && ![408, 425, 429].contains(status)
            return isFinal ? .abandoned("status \(status)") : failed(call, "status \(status)")
        case .failure(.cancelled), .failure(.shuttingDown): return .untried(again: now())
        case .failure(let reason):
            return Self.refusals.contains(reason) ? .abandoned(reason.rawValue) : failed(call, reason.rawValue)
        }
    }

    private func failed(_ call: TrackerCall, _ failure: String) -> TrackerOutcome {
        let tried = call.attempts + 1
        guard tried < settings.attempts else { return .abandoned(failure) }
        let wait = min(Self.waits.longest, Self.waits.first << Int64(min(tried - 1, 20)))
        return .failed(failure, again: now() &+ wait &+ Int64.random(in: 0...wait / 10))
    }

    /// What another attempt does not change.
    private static let refusals: Set<FetchError> = [
        .malformedURL, .schemeDenied, .userinfoDenied, .portDenied, .hostDenied, .addressDenied, .downgradeDenied, .tooManyRedirects,
    ]
}

/// How calling goes, for whoever watches.
package final class TrackerMetrics: Sendable {
    package struct State: Sendable {
        package var succeeded = 0
        package var failed = 0
        package var abandoned = 0
        package var summary = TrackerSummary()
        /// When it was last asked for.
        fileprivate var asked: ContinuousClock.Instant?
    }

    private static let interval = Duration.seconds(5)

    private let shared = Mutex(State())

    package var state: State { shared.withLock { $0 } }

    func record(_ outcomes: some Collection<TrackerOutcome>) {
        shared.withLock { state in
            for outcome in outcomes {
                switch outcome {
                case .succeeded: state.succeeded += 1
                case .failed: state.failed += 1
                case .abandoned: state.abandoned += 1
                case .untried: break
                }
            }
        }
    }

    /// What made room for others.
    func recordAbandoned(_ count: Int) {
        shared.withLock { $0.abandoned += count }
    }

    /// Whether the summary is old: to count what waits costs more than to call it.
    var wantsSummary: Bool { shared.withLock { $0.asked.map { $0.duration(to: .now) >= Self.interval } ?? true } }

    func record(_ summary: TrackerSummary) {
        shared.withLock { ($0.summary, $0.asked) = (summary, .now) }
    }
}

/// How much is tried, and how much may wait.
public struct TrackerSettings: Sendable {
    /// Attempts at each call. With 12 of them the last one comes some three hours after the first.
    public var attempts = 12
    /// Calls that may wait; with more, those that failed are given up early, and where none did, events wait for their calls to be made of them.
    public var waiting = 100_000

    public init() {}
}
