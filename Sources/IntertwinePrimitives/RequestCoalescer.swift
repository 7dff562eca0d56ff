/// A table of requests that wait for the same result: the first one of a key starts the work, and all of them get its result.
///
/// The table is a value without a lock, and does not call its waiters. `Waiter` is usually a callback.
///
/// ```swift
/// var lookups = RequestCoalescer<String, (Int) -> Void>()
/// let isFirst = lookups.join("example.com", 1) { print("1:", $0) }  // true: the caller starts the work
/// _ = lookups.join("example.com", 2) { print("2:", $0) }  // false
/// for callback in lookups.complete("example.com") { callback(200) }
/// ```
package struct RequestCoalescer<Key: Hashable, Waiter> {
    private var waiting: [Key: [(number: UInt64, waiter: Waiter)]] = [:]

    /// Creates a table without requests.
    package init() {}

    /// Returns true if work on this key is in progress, with or without waiters.
    package func isActive(_ key: Key) -> Bool { waiting[key] != nil }

    /// Adds a waiter.
    ///
    /// - Parameter number: The number of the waiter for ``leave(_:_:)``.
    /// - Returns: True if the waiter is the first one: the caller starts the work.
    package mutating func join(_ key: Key, _ number: UInt64, _ waiter: Waiter) -> Bool {
        let isFirst = waiting[key] == nil
        waiting[key, default: []].append((number, waiter))
        return isFirst
    }

    /// Removes a waiter. The work on the key stays in progress until ``complete(_:)``.
    ///
    /// - Returns: True if no waiter is left.
    package mutating func leave(_ key: Key, _ number: UInt64) -> Bool {
        waiting[key]?.removeAll { $0.number == number }
        return waiting[key]?.isEmpty ?? true
    }

    /// Ends the work on a key, and returns its waiters in the order of their arrival.
    package mutating func complete(_ key: Key) -> [Waiter] { waiting.removeValue(forKey: key)?.map(\.waiter) ?? [] }
}

extension RequestCoalescer: Sendable where Key: Sendable, Waiter: Sendable {}
