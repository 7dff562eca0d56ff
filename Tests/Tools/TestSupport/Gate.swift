import Foundation

/// Closed at first; who waits goes on once it is open.
public final class Gate: @unchecked Sendable {
    // Safety of @unchecked: `isOpen` is touched under the condition's lock only.
    private let condition = NSCondition()
    private var isOpen = false

    public init() {}

    /// Blocks the thread.
    public func wait() {
        condition.withLock {
            while !isOpen { condition.wait() }
        }
    }

    public func open() {
        condition.withLock {
            isOpen = true
            condition.broadcast()
        }
    }
}
