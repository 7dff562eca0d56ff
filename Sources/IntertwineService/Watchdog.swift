internal import Glibc
internal import IntertwineEventLoop
internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import Logging
internal import Synchronization

/// Checks on a thread of its own that the event loops and the pool of tasks make progress, and that a stop ends in time.
///
/// After seconds without progress, threads may be exhausted, and the watchdog releases its reserved threads. In that time it does not notify
/// systemd, which restarts a service that does not recover. A stop that exceeds its time limit ends the process.
final class Watchdog: Sendable {
    /// The number of reserved threads.
    private static let reserve = 8
    /// The time without progress after which threads count as short. Event loops and tasks beat each second, to a quarter of one.
    private static let stallLimit = Duration.milliseconds(2_500)
    /// The time with progress after which the reserve is filled again.
    private static let recovery = Duration.seconds(60)
    /// The additional time for the end of background work and for closing databases.
    private static let margin = Duration.seconds(10)
    private static let tick = Duration.seconds(1)
    private static let stackBytes = 256 << 10

    private struct Progress {
        var beats: [UInt64] = []
        var stalled = Duration.zero
        var healthy = Duration.zero
    }

    private let servers: [HTTPServer]
    private let state: ServiceState
    private let stopTime: Duration
    private let notifier: SystemdNotifier?
    private let logger: Logger
    private let threads = ParkedThreads()
    private let pool = Atomic<UInt64>(0)
    private let end = MonotonicSemaphore()

    /// - Parameter stopTime: The maximum time of a stop until the last connection is closed.
    init(_ servers: [HTTPServer], state: ServiceState, stopTime: Duration, notifier: SystemdNotifier?, logger: Logger) {
        (self.servers, self.state, self.stopTime, self.notifier, self.logger) = (servers, state, stopTime, notifier, logger)
    }

    /// Starts the watchdog. Call it after the servers have started.
    ///
    /// - Throws: `ConfigurationError` if the system provides no thread.
    func start() throws {
        threads.park(Self.reserve)
        guard DetachedThread.start(stackBytes: Self.stackBytes, { [self] in watch() }) else { throw ThreadLimit.error(0, needed: 1) }
    }

    /// Notifies systemd that requests are served.
    func ready() { notifier?.send("READY=1") }

    /// Notifies systemd that a stop has begun.
    func stopping() { notifier?.send("STOPPING=1") }

    /// Ends the watchdog.
    func stop() { end.signal() }

    // MARK: On the thread

    private func watch() {
        var progress = Progress()
        var stopping: ContinuousClock.Instant?
        let tick = min(Self.tick, notifier?.watchdogInterval.map { $0 / 3 } ?? Self.tick)
        while !end.wait(for: tick) {
            if state.isDraining, stopping == nil { stopping = .now }
            if let stopping, stopping.duration(to: .now) > stopTime + Self.margin { endProcess() }
            check(&progress, after: tick)
            if progress.stalled < Self.stallLimit, notifier?.watchdogInterval != nil { notifier?.send("WATCHDOG=1") }
        }
        threads.release()
    }

    private func check(_ progress: inout Progress, after tick: Duration) {
        let beats = servers.flatMap(\.beats) + [pool.load(ordering: .relaxed)]
        // The loops of a server end when it stops.
        let isStalled = beats.count == progress.beats.count && zip(beats, progress.beats).contains { $0 == $1 }
        progress.beats = beats
        if isStalled {
            (progress.stalled, progress.healthy) = (progress.stalled + tick, .zero)
            if progress.stalled >= Self.stallLimit { threads.release() }
            return
        }
        if progress.stalled >= Self.stallLimit {
            // The line is logged after the recovery, because the log needs threads too.
            logger.warning(
                "event loops or tasks did not run: threads are exhausted, or the machine is overloaded",
                metadata: ["for": "\(progress.stalled)"])
        }
        (progress.stalled, progress.healthy) = (.zero, progress.healthy + tick)
        if progress.healthy >= Self.recovery { threads.park(Self.reserve) }
    }

    private func endProcess() -> Never {
        let text = Array("Error: the shutdown exceeded its time limit; the process ends\n".utf8)
        _ = write(STDERR_FILENO, text, text.count)
        _exit(EXIT_FAILURE)
    }
}

extension Watchdog: PeriodicService {
    var interval: Duration { Self.tick }
    var startsAtOnce: Bool { true }

    /// Counts a beat of the pool of tasks.
    func perform() { pool.add(1, ordering: .relaxed) }
}
