internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwinePrimitives
internal import IntertwineStorage
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// A service that calls the tracker URLs of third parties (webhooks) after impressions and clicks.
struct TrackerDispatcher: ServiceLifecycle.Service {
    private static let atOnce = (all: 64, host: 8)
    /// The time in milliseconds for which a call is leased to one process, which also limits its duration.
    private static let lease: Int64 = 30_000
    private static let longestBody = 64 * 1_024
    /// The first and the longest retry delay in milliseconds.
    private static let waits: (first: Int64, longest: Int64) = (5_000, 3_600_000)

    let metrics = TrackerMetrics()
    let ledger: any PersistentLedger
    let sources: [any TrackerSource]
    let calls: @Sendable () -> TrackerCalls
    let policy: AddressPolicy
    var settings: TrackerSettings = TrackerSettings()
    var certificates: String?
    var userAgent: String?
    /// Returns milliseconds since 1970-01-01 UTC.
    let now: @Sendable () -> Int64
    let logger: Logger
    /// Why: while a host does not respond, each event of any client ends in an abandoned call.
    private let reports = ReportThrottle()

    func run() async throws {
        let loop = try EventLoop(label: "trackers")
        let transfers = CurlClient(on: loop, policy: policy, certificates: certificates, userAgent: userAgent)
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                let limiter = HostConcurrencyLimiter(all: Self.atOnce.all, host: Self.atOnce.host)
                while !Task.isCancelled {
                    let due = await round(limiter)
                    for (call, url) in due ?? [] {
                        group.addTask {
                            let begun = Self.monotonic
                            let result = await Self.call(url, on: transfers)
                            let ended = Self.monotonic
                            limiter.release(url.host, duration: ended - begun, hasResponse: Self.hasResponse(result), now: ended)
                            await record([call.id: outcome(of: call, result)], of: call)
                        }
                    }
                    // If all due calls lead to hosts that do not respond, the next calls in the queue are examined at once.
                    if due?.isEmpty == true { continue }
                    do { try await Task.sleep(for: due != nil ? .milliseconds(50) : .milliseconds(500)) } catch { break }
                }
                group.cancelAll()
            }
        }
        await transfers.shutDown()
        loop.stop()
    }

    private static var monotonic: Int64 { MonotonicInstant.now().nanoseconds / 1_000_000 }

    private func round(_ limiter: HostConcurrencyLimiter) async -> [(TrackerCall, FetchURL)]? {
        do {
            let abandoned = try await ledger.enqueueTrackerCalls(waiting: settings.maxPending, now: now()) { [sources, calls] events in
                guard !events.isEmpty else { return [] }
                var made: [TrackerCall] = []
                let calls = calls()
                for source in sources {
                    let trackers = try await source.trackers(of: events.map(\.event))
                    for (event, trackers) in zip(events, trackers) { made += calls.calls(of: event, trackers) }
                }
                return made
            }
            metrics.recordAbandoned(abandoned)
            let due = try await ledger.leaseTrackerCalls(limiter.free, now: now(), lease: Self.lease)
            var settled: [Int64: TrackerOutcome] = [:]
            var begun: [(TrackerCall, FetchURL)] = []
            for call in due {
                guard let url = try? FetchURL(call.url) else {
                    settled[call.id] = .abandoned(FetchError.malformedURL.rawValue)
                    continue
                }
                switch limiter.acquire(url.host, now: Self.monotonic) {
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
                // The leased calls are made despite the error. All others are leased again after their lease has expired.
                report(.error, "tracker calls cannot be recorded", ["error": "\(error)"])
            }
            return due.isEmpty ? nil : begun
        } catch is CancellationError {
            return nil
        } catch {
            logger.error("trackers cannot be called: the ledger is unavailable", metadata: ["error": "\(error)"])
            do { try await Task.sleep(for: .seconds(5)) } catch {}
            return nil
        }
    }

    /// Stores outcomes of a call, in a detached task, so that a service that stops does not repeat completed calls.
    private func record(_ outcomes: [Int64: TrackerOutcome], of call: TrackerCall) async {
        metrics.record(outcomes.values)
        for case .abandoned(let failure) in outcomes.values {
            report(
                .warning, "tracker call abandoned",
                ["event": "\(call.event)", "campaign": "\(call.campaign)", "reason": "\(failure)"])
        }
        await Task.detached { [self] in
            do {
                try await ledger.completeTrackerCalls(outcomes, now: now())
            } catch {
                report(.error, "tracker response cannot be recorded: the call is repeated", ["error": "\(error)"])
            }
        }.value
    }

    private func report(_ level: Logger.Level, _ line: Logger.Message, _ metadata: Logger.Metadata) {
        guard let repeated = reports.repetitions(of: "\(line) \(metadata["campaign"] ?? "")", now: now()) else { return }
        logger.log(level: level, line, metadata: repeated > 0 ? metadata.merging(["since-the-last-line": "\(repeated)"]) { $1 } : metadata)
    }

    private static func call(_ url: FetchURL, on client: CurlClient) async -> Result<Int, FetchError> {
        var request = FetchRequest(url, headers: [.accept: "*/*"])
        request.limits.total = .seconds(10)
        request.limits.bodyBytes = .max
        let response = client.open(request)
        defer { response.cancel() }
        do throws(FetchError) {
            let head = try await response.head()
            // The body is read and discarded, so that the connection can be reused. A status counts even if the transfer of the body fails.
            var rest = longestBody
            while rest >= 0, let bytes = try? await response.next() { rest -= bytes.count }
            return .success(head.status)
        } catch {
            return .failure(error)
        }
    }

    private static func hasResponse(_ result: Result<Int, FetchError>) -> Bool? {
        switch result {
        case .success: true
        case .failure(.cancelled), .failure(.shuttingDown): nil
        // A refusal by the address policy costs no time, and does not predict the next call.
        case .failure(let reason): refusals.contains(reason)
        }
    }

    private func outcome(of call: TrackerCall, _ result: Result<Int, FetchError>) -> TrackerOutcome {
        switch result {
        case .success(let status) where (200..<400).contains(status): return .succeeded
        case .success(let status):
            // A 4xx status shows that the host received the call; a retry would not change the result.
            let isFinal = (400..<500).contains(status) && ![408, 425, 429].contains(status)
            return isFinal ? .abandoned("status \(status)") : failed(call, "status \(status)")
        case .failure(.cancelled), .failure(.shuttingDown): return .untried(again: now())
        case .failure(let reason):
            return Self.refusals.contains(reason) ? .abandoned(reason.rawValue) : failed(call, reason.rawValue)
        }
    }

    private func failed(_ call: TrackerCall, _ failure: String) -> TrackerOutcome {
        let tried = call.attempts + 1
        guard tried < settings.maxAttempts else { return .abandoned(failure) }
        let wait = min(Self.waits.longest, Self.waits.first << Int64(min(tried - 1, 20)))
        return .failed(failure, again: now() &+ wait &+ Int64.random(in: 0...wait / 10))
    }

    private static let refusals: Set<FetchError> = [
        .malformedURL, .schemeDenied, .userinfoDenied, .portDenied, .hostDenied, .addressDenied, .downgradeDenied, .tooManyRedirects,
    ]
}

final class TrackerMetrics: Sendable {
    struct State: Sendable {
        var succeeded = 0
        var failed = 0
        var abandoned = 0
        var summary = TrackerSummary()
        fileprivate var summarizedAt: ContinuousClock.Instant?
    }

    private static let interval = Duration.seconds(5)

    private let shared = Mutex(State())

    var state: State { shared.withLock { $0 } }

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

    func recordAbandoned(_ count: Int) {
        shared.withLock { $0.abandoned += count }
    }

    /// Why: counting the queued calls costs more than making one call, so the summary is read at most every 5 seconds.
    var wantsSummary: Bool { shared.withLock { $0.summarizedAt.map { $0.duration(to: .now) >= Self.interval } ?? true } }

    func record(_ summary: TrackerSummary) {
        shared.withLock { ($0.summary, $0.summarizedAt) = (summary, .now) }
    }
}

/// The settings `trackers.*`: limits of retries and of queued tracker calls.
public struct TrackerSettings: Sendable, SettingsSection {
    @Setting(
        "trackers.max-attempts",
        "Attempts at each call: retry with backoff, the first after 5 s; the last of 12 is about three hours after the first.", in: 1...100)
    public var maxAttempts = 12
    @Setting(
        "trackers.max-pending",
        "Pending calls. Beyond it, failed calls are abandoned early; if none failed, events wait until calls complete.", in: 1...10_000_000)
    public var maxPending = 100_000
}
