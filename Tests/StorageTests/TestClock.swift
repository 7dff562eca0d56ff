import Synchronization

/// Milliseconds that pass when a test says so.
final class TestClock: Sendable {
    private let moment = Mutex<Int64>(1_000_000_000_000)

    var now: Int64 { moment.withLock { $0 } }

    func advance(_ milliseconds: Int64) {
        moment.withLock { $0 += milliseconds }
    }
}
