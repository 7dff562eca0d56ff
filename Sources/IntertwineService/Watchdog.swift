internal import Glibc
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

/// Notifies systemd as long as the event loops and the pool of tasks make progress, and ends the process if a stop exceeds its time limit.
final class Watchdog: Sendable {
    private static let margin = Duration.seconds(10)

    private let servers: [HTTPServer]
    private let stopTime: Duration
    private let notifier: SystemdNotifier?
    private let end = MonotonicSemaphore()

    init(_ servers: [HTTPServer], stopTime: Duration, notifier: SystemdNotifier?) {
        (self.servers, self.stopTime, self.notifier) = (servers, stopTime, notifier)
    }

    func stopping() {
        notifier?.send("STOPPING=1")
        _ = DetachedThread.start(stackBytes: 64 << 10) { [end, limit = stopTime + Self.margin] in
            guard !end.wait(for: limit) else { return }
            let text = Array("Error: the shutdown exceeded its time limit; the process ends\n".utf8)
            _ = write(STDERR_FILENO, text, text.count)
            _exit(EXIT_FAILURE)
        }
    }

    func stopped() { end.signal() }
}

extension Watchdog: PeriodicService {
    var interval: Duration { notifier?.watchdogInterval.map { $0 / 3 } ?? .seconds(3_600) }
    var startsAtOnce: Bool { true }

    /// The servers listen before this service runs. systemd expects this notification before the others.
    func run() async throws {
        notifier?.send("READY=1")
        await repeatUntilShutdown()
    }

    func perform() async {
        guard let notifier, notifier.watchdogInterval != nil else { return }
        for server in servers { await server.awaitLoops() }
        notifier.send("WATCHDOG=1")
    }
}
