import Foundation

/// A value that is protected by a lock. Why: the `Mutex` of Synchronization requires newer systems than apps do.
// Unchecked, and safe: `value` is private, and `withLock` is the only access to it.
final class LockedBox<Value>: @unchecked Sendable {
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
