/// A lookup moves an old entry to the young generation. The cache therefore always has the most recently used entries, up to at least half
/// of its limit.
package struct BoundedCache<Key: Hashable, Value> {
    @usableFromInline typealias Generation = (entries: [Key: Value], cost: Int)

    @usableFromInline let limit: Int
    @usableFromInline let entryCost: (@Sendable (Key, Value) -> Int)?
    @usableFromInline var young: Generation = ([:], 0)
    @usableFromInline var old: Generation = ([:], 0)

    package init(limit: Int, cost: (@Sendable (Key, Value) -> Int)? = nil) {
        self.limit = max(0, limit)
        entryCost = cost
    }

    @inlinable package var count: Int { young.entries.count + old.entries.count }

    @inlinable package var cost: Int { young.cost + old.cost }

    package var entries: [(key: Key, value: Value)] { Array(old.entries) + Array(young.entries) }

    @inlinable package subscript(key: Key) -> Value? {
        mutating get {
            if let value = young.entries[key] { return value }
            guard let value = old.entries[key] else { return nil }
            insert(value, for: key)
            return value
        }
        set {
            if let newValue { insert(newValue, for: key) } else { remove(key) }
        }
    }

    @inlinable package func peek(_ key: Key) -> Value? { young.entries[key] ?? old.entries[key] }

    @inlinable func cost(of key: Key, _ value: Value) -> Int { entryCost?(key, value) ?? 1 }

    @inlinable mutating func insert(_ value: Value, for key: Key) {
        remove(key)
        let cost = cost(of: key, value)
        guard cost <= limit else { return }
        if young.cost + cost > limit / 2, !young.entries.isEmpty { (old, young) = (young, ([:], 0)) }
        young.entries[key] = value
        young.cost += cost
        if self.cost > limit { old = ([:], 0) }
    }

    @inlinable mutating func remove(_ key: Key) {
        if let value = young.entries.removeValue(forKey: key) {
            young.cost -= cost(of: key, value)
        } else if let value = old.entries.removeValue(forKey: key) {
            old.cost -= cost(of: key, value)
        }
    }

    package mutating func removeAll() {
        (young, old) = (([:], 0), ([:], 0))
    }

    package mutating func removeAll(where isGone: (Key, Value) throws -> Bool) rethrows {
        for (key, value) in entries where try isGone(key, value) { remove(key) }
    }
}

extension BoundedCache: Sendable where Key: Sendable, Value: Sendable {}
