/// A hash table of rate counters in memory, with open addressing and linear probing.
///
/// Changes of a transaction are tracked, so that they can be written or rolled back. A slot stores one half of the key's digest:
/// two of a million live keys collide with a probability of one in 30 million million.
package struct RecentRateCounters {
    package struct RateCounter: Equatable {
        package var until: Int64
        package var used: UInt32

        package init(until: Int64, used: UInt32) { (self.until, self.used) = (until, used) }
    }

    /// The longest window in milliseconds that is kept in memory.
    package static let longestWindow: Int64 = 300_000
    /// The default limit of slots: 1.5 million counters, 64 MiB. The table grows on demand.
    package static let defaultSlots = 1 << 21

    private struct Slot {
        /// The short key; 0 if the slot is empty.
        var key: UInt64 = 0
        var until: Int64 = 0
        var used: UInt32 = 0
        /// A Boolean value indicating whether the current transaction has changed the slot.
        var isChanged = false
    }

    private struct Change {
        var key: RateCounterKey
        var before: RateCounter?
    }

    private static let leastSlots = 1_024
    /// The number of slots that are examined for each new counter, so that all slots are examined before one eighth of them is new.
    private static let lookupsPerInsert = 8
    /// The number of calls in which all slots of a full table are examined.
    private static let segments = 256

    private var slots: [Slot]
    private let mostSlots: Int
    package private(set) var count = 0
    private var changes: [Change] = []
    /// The slot at which the next search for expired counters begins, and the number of slots to examine.
    private var hand = 0
    private var owed = 0
    /// An odd random number of this process. Clients cannot choose keys that collide.
    private let multiplier = UInt64.random(in: .min ... .max) | 1

    /// Creates an empty table.
    ///
    /// - Parameter mostSlots: the size limit, a power of two. The table is full if three quarters of the slots are used.
    package init(mostSlots: Int) {
        self.mostSlots = mostSlots
        slots = Array(repeating: Slot(), count: min(mostSlots, Self.leastSlots))
    }

    /// Returns true if further keys would exceed the size limit.
    package func isFull(with keys: Int = 1) -> Bool { Self.isFull(mostSlots, with: count + keys) }

    private static func isFull(_ slots: Int, with count: Int) -> Bool { count * 4 > slots * 3 }

    /// The bytes of the table, which grows and shrinks by halves: at most 64 MiB, and 96 MiB for a moment while it grows.
    package var bytes: Int { slots.count * MemoryLayout<Slot>.stride }

    package func allowance(_ key: RateCounterKey) -> RateCounter? {
        let slot = slots[index(of: Self.short(key))]
        return slot.key == 0 ? nil : RateCounter(until: slot.until, used: slot.used)
    }

    package mutating func set(_ key: RateCounterKey, _ allowance: RateCounter) {
        let index = slotIndex(key)
        if !slots[index].isChanged {
            let before = slots[index].used == 0 ? nil : RateCounter(until: slots[index].until, used: slots[index].used)
            changes.append(Change(key: key, before: before))
            slots[index].isChanged = true
        }
        (slots[index].until, slots[index].used) = (allowance.until, max(1, allowance.used))
    }

    /// Stores a counter that was read from disk.
    package mutating func store(_ key: RateCounterKey, _ allowance: RateCounter) {
        let index = slotIndex(key)
        (slots[index].until, slots[index].used) = (allowance.until, max(1, allowance.used))
    }

    /// The current values of the counters that the transaction has changed.
    package var changed: [(key: RateCounterKey, allowance: RateCounter)] {
        var changed: [(key: RateCounterKey, allowance: RateCounter)] = []
        changed.reserveCapacity(changes.count)
        for change in changes {
            if let allowance = allowance(change.key) { changed.append((change.key, allowance)) }
        }
        return changed
    }

    /// Forgets tracked changes after a commit.
    package mutating func hasCommitted() {
        for change in changes { slots[index(of: Self.short(change.key))].isChanged = false }
        changes.removeAll(keepingCapacity: true)
    }

    /// Reverts tracked changes after a rollback.
    package mutating func discard() {
        for change in changes {
            let index = index(of: Self.short(change.key))
            slots[index].isChanged = false
            if let before = change.before {
                (slots[index].until, slots[index].used) = (before.until, before.used)
            } else {
                remove(at: index)
            }
        }
        changes.removeAll(keepingCapacity: true)
    }

    /// Removes expired counters from some slots, in proportion to the new counters since the last call. Do not call it within a transaction.
    ///
    /// - Parameters:
    ///   - keys: the number of keys that need space.
    ///   - isOver: returns true if a counter with this end has expired.
    package mutating func tidy(for keys: Int = 1, _ isOver: (Int64) -> Bool) {
        // A full table accepts no new counters, so a fixed share of its slots is examined.
        let lookups = min(isFull(with: keys) ? max(owed, Self.lookupsPerInsert, slots.count / Self.segments) : owed, slots.count)
        owed = 0
        for _ in 0..<lookups {
            // A removal can move the next counter into this slot.
            while slots[hand].key != 0, isOver(slots[hand].until) { remove(at: hand) }
            hand += 1
            guard hand == slots.count else { continue }
            hand = 0
            if slots.count > Self.leastSlots, count * 8 < slots.count { resize(to: slots.count / 2) }
        }
    }

    // MARK: Slots

    /// The short key, never 0, which marks an empty slot.
    private static func short(_ key: RateCounterKey) -> UInt64 { max(1, key.low) }

    private func home(of key: UInt64) -> Int {
        Int(truncatingIfNeeded: (key &* multiplier) >> UInt64(64 - slots.count.trailingZeroBitCount))
    }

    /// Returns the slot of a key, or the empty slot for it.
    private func index(of key: UInt64) -> Int {
        var index = home(of: key)
        while slots[index].key != 0, slots[index].key != key { index = (index + 1) & (slots.count - 1) }
        return index
    }

    /// Returns the slot of a key, and adds the key if it is missing.
    private mutating func slotIndex(_ key: RateCounterKey) -> Int {
        let short = Self.short(key)
        let index = index(of: short)
        guard slots[index].key == 0 else { return index }
        if Self.isFull(slots.count, with: count + 1) {
            resize(to: slots.count * 2)
            return slotIndex(key)
        }
        slots[index].key = short
        count += 1
        owed += Self.lookupsPerInsert
        return index
    }

    /// Removes a counter. Following counters that are not at their first slot move up.
    private mutating func remove(at index: Int) {
        let mask = slots.count - 1
        var (hole, next) = (index, (index + 1) & mask)
        while slots[next].key != 0 {
            if (next - home(of: slots[next].key)) & mask >= (next - hole) & mask {
                slots[hole] = slots[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        slots[hole] = Slot()
        count -= 1
    }

    private mutating func resize(to size: Int) {
        let old = slots
        slots = Array(repeating: Slot(), count: size)
        hand = 0
        for slot in old where slot.key != 0 { slots[index(of: slot.key)] = slot }
    }
}
