import Foundation
import Synchronization

/// How much slower than a quiet machine this one is at this moment.
public enum MachineSpeed {
    /// What `computation` and `wakeups` take on two quiet cores in a debug build.
    private static let quietComputation = Duration.milliseconds(20)
    private static let quietWakeups = Duration.milliseconds(6)

    private static let slowest = Mutex(1.0)

    /// The bound on a duration that was measured just before: at least `quiet`, and longer on a busy machine.
    ///
    /// Each call measures again, because the load of a machine changes while the tests run.
    public static func bound(_ quiet: Duration) -> Duration {
        let clock = ContinuousClock()
        let computing = clock.measure { compute() } / quietComputation
        let waiting = clock.measure { wakeUp() } / quietWakeups
        return slowest.withLock { slowest in
            slowest = max(slowest, computing, waiting)
            return quiet * slowest
        }
    }

    /// A loop of a constant length. The result depends on each step, so that none is removed.
    private static func compute() {
        var value: UInt64 = 1
        for _ in 0..<200_000 { value = value &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407 }
        withExtendedLifetime(value) {}
    }

    /// Other threads run in turn with this one.
    private static func wakeUp() {
        let (ping, pong) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let thread = Thread {
            for _ in 0..<100 {
                ping.wait()
                pong.signal()
            }
        }
        thread.start()
        for _ in 0..<100 {
            ping.signal()
            pong.wait()
        }
    }
}
