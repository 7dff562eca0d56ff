/// A table of requests that wait for the same result: the first one of a key starts the work, and all of them get its result.
package struct RequestCoalescer<Key: Hashable, Waiter> {
    private var waiting: [Key: [(number: UInt64, waiter: Waiter)]] = [:]

    package init() {}

    package func isActive(_ key: Key) -> Bool { waiting[key] != nil }

    package mutating func join(_ key: Key, _ number: UInt64, _ waiter: Waiter) -> Bool {
        let isFirst = waiting[key] == nil
        waiting[key, default: []].append((number, waiter))
        return isFirst
    }

    package mutating func leave(_ key: Key, _ number: UInt64) -> Bool {
        waiting[key]?.removeAll { $0.number == number }
        return waiting[key]?.isEmpty ?? true
    }

    package mutating func complete(_ key: Key) -> [Waiter] { waiting.removeValue(forKey: key)?.map(\.waiter) ?? [] }
}

extension RequestCoalescer: Sendable where Key: Sendable, Waiter: Sendable {}
