/// A cache with a limit, in two generations.
///
/// New entries are in the young generation. Once it has half of the limit, it becomes the old generation, and the former old one is dropped. A lookup
/// moves an old entry to the young generation. The cache therefore always has the most recently used entries, up to at least half of its limit.
///
/// ```swift
/// var names = BoundedCache<Int, String>(limit: 100)
/// names[1] = "one"
/// names[1]  // "one"
/// ```
///
/// - Complexity: O(1) for a lookup and, amortized, for an insertion. A lookup of a young entry writes nothing.
package struct BoundedCache<Key: Hashable, Value> {
    @usableFromInline typealias Generation = (entries: [Key: Value], cost: Int)

    @usableFromInline let limit: Int
    @usableFromInline let entryCost: (@Sendable (Key, Value) -> Int)?
    @usableFromInline var young: Generation = ([:], 0)
    @usableFromInline var old: Generation = ([:], 0)

    /// Creates an empty cache.
    ///
    /// ```swift
    /// var pages = BoundedCache<String, [UInt8]>(limit: 1 << 20) { $1.count }
    /// pages["/feed"] = Array("Hello".utf8)
    /// pages.cost  // 5
    /// ```
    ///
    /// - Parameters:
    ///   - limit: The limit of the sum of all costs.
    ///   - cost: Returns the cost of an entry, such as its bytes. The default limits the number of entries.
    package init(limit: Int, cost: (@Sendable (Key, Value) -> Int)? = nil) {
        self.limit = max(0, limit)
        entryCost = cost
    }

    /// The number of entries in both generations.
    @inlinable package var count: Int { young.entries.count + old.entries.count }

    /// The sum of the costs of all entries.
    @inlinable package var cost: Int { young.cost + old.cost }

    /// The keys and values, in unspecified order within a generation; the old generation is first.
    package var entries: [(key: Key, value: Value)] { Array(old.entries) + Array(young.entries) }

    /// Looks up, sets or, with nil, removes a value. A value whose cost exceeds the limit is not stored.
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

    /// Returns true if the next lookup of the key moves its entry to the young generation.
    @inlinable package func isOld(_ key: Key) -> Bool { old.entries[key] != nil }

    /// Returns a value without counting this as a use.
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

    /// Removes all entries.
    package mutating func removeAll() {
        (young, old) = (([:], 0), ([:], 0))
    }

    /// Removes the entries for which the closure returns true.
    ///
    /// ```swift
    /// var names = BoundedCache<Int, String>(limit: 100)
    /// names[1] = "one"
    /// names.removeAll { key, _ in key < 10 }
    /// names.count  // 0
    /// ```
    package mutating func removeAll(where isGone: (Key, Value) throws -> Bool) rethrows {
        for (key, value) in entries where try isGone(key, value) { remove(key) }
    }
}

extension BoundedCache: Sendable where Key: Sendable, Value: Sendable {}
