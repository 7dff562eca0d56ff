import Foundation

/// A value that is only touched while its lock is held. (Synchronization's `Mutex` wants newer systems than apps do.)
// Unchecked, and safe: `value` is private, and `withLock` is the only way to it.
final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
