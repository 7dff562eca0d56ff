/// A hash table of rate counters in memory, with open addressing and linear probing.
/// Changes of a transaction are tracked, so that they can be written or rolled back.
package struct RecentRateCounters {
    package struct RateCounter: Equatable {
        package var until: Int64
        package var used: UInt32

        package init(until: Int64, used: UInt32) { (self.until, self.used) = (until, used) }
    }

    /// The longest window in milliseconds that is kept in memory.
    package static let longestWindow: Int64 = 300_000
    package static let defaultSlots = 1 << 21

    private struct Slot {
        var key: UInt64 = 0
        var until: Int64 = 0
        var used: UInt32 = 0
        var isChanged = false
    }

    private struct Change {
        var key: RateCounterKey
        var before: RateCounter?
    }

    private static let leastSlots = 1_024
    /// The number of slots that are examined for each new counter, so that all slots are examined before one eighth of them is new.
    private static let lookupsPerInsert = 8
    private static let segments = 256

    private var slots: [Slot]
    private let mostSlots: Int
    package private(set) var count = 0
    private var changes: [Change] = []
    private var hand = 0
    private var owed = 0
    private let multiplier = UInt64.random(in: .min ... .max) | 1

    package init(mostSlots: Int) {
        self.mostSlots = mostSlots
        slots = Array(repeating: Slot(), count: min(mostSlots, Self.leastSlots))
    }

    /// Returns true if further keys would exceed the size limit.
    package func isFull(with keys: Int = 1) -> Bool { Self.isFull(mostSlots, with: count + keys) }

    private static func isFull(_ slots: Int, with count: Int) -> Bool { count * 4 > slots * 3 }

    package var bytes: Int { slots.count * MemoryLayout<Slot>.stride }

    package func counter(_ key: RateCounterKey) -> RateCounter? {
        let slot = slots[index(of: Self.short(key))]
        return slot.key == 0 ? nil : RateCounter(until: slot.until, used: slot.used)
    }

    package mutating func set(_ key: RateCounterKey, _ counter: RateCounter) {
        let index = slotIndex(key)
        if !slots[index].isChanged {
            let before = slots[index].used == 0 ? nil : RateCounter(until: slots[index].until, used: slots[index].used)
            changes.append(Change(key: key, before: before))
            slots[index].isChanged = true
        }
        (slots[index].until, slots[index].used) = (counter.until, max(1, counter.used))
    }

    package mutating func store(_ key: RateCounterKey, _ counter: RateCounter) {
        let index = slotIndex(key)
        (slots[index].until, slots[index].used) = (counter.until, max(1, counter.used))
    }

    package var changed: [(key: RateCounterKey, counter: RateCounter)] {
        var changed: [(key: RateCounterKey, counter: RateCounter)] = []
        changed.reserveCapacity(changes.count)
        for change in changes {
            if let counter = counter(change.key) { changed.append((change.key, counter)) }
        }
        return changed
    }

    package mutating func hasCommitted() {
        for change in changes { slots[index(of: Self.short(change.key))].isChanged = false }
        changes.removeAll(keepingCapacity: true)
    }

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

    private func index(of key: UInt64) -> Int {
        var index = home(of: key)
        while slots[index].key != 0, slots[index].key != key { index = (index + 1) & (slots.count - 1) }
        return index
    }

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
