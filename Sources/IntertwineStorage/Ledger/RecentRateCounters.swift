/// What was used of allowances under their keys, in memory: a table of slots, of which a key takes the first that is free behind its own.
///
/// What one transaction changes is known, so that it can be written, or be taken back. Keys are known by half of their digests: that two of a
/// million that live at a time are alike happens once in thirty million millions.
package struct RecentRateCounters {
    package struct RateCounter: Equatable {
        package var until: Int64
        package var used: UInt32

        package init(until: Int64, used: UInt32) { (self.until, self.used) = (until, used) }
    }

    private struct Slot {
        /// 0 where nothing stands there.
        var key: UInt64 = 0
        var until: Int64 = 0
        var used: UInt32 = 0
        /// Whether the transaction has changed it.
        var isChanged = false
    }

    private struct Change {
        var key: RateCounterKey
        var before: RateCounter?
    }

    private static let leastSlots = 1_024
    /// Slots that are looked at for each allowance that is new: all of them before an eighth is.
    private static let lookupsPerInsert = 8
    /// In so many calls all slots of a full table are looked at.
    private static let segments = 256

    private var slots: [Slot]
    private let mostSlots: Int
    package private(set) var count = 0
    private var changes: [Change] = []
    /// Where the next look for what is over begins, and how many slots it owes.
    private var hand = 0
    private var owed = 0
    /// Of this process alone, and odd: where keys come to stand is nobody's choice.
    private let multiplier = UInt64.random(in: .min ... .max) | 1

    /// - Parameter mostSlots: a power of two. When three quarters of them are used, it is full.
    package init(mostSlots: Int) {
        self.mostSlots = mostSlots
        slots = Array(repeating: Slot(), count: min(mostSlots, Self.leastSlots))
    }

    /// Whether it has no room for another key, unless it grows beyond its size.
    package var isFull: Bool { Self.isFull(mostSlots, with: count) }

    private static func isFull(_ slots: Int, with count: Int) -> Bool { (count + 1) * 4 > slots * 3 }

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

    /// Takes what is on disk.
    package mutating func store(_ key: RateCounterKey, _ allowance: RateCounter) {
        let index = slotIndex(key)
        (slots[index].until, slots[index].used) = (allowance.until, max(1, allowance.used))
    }

    /// What the transaction has changed, as it is now.
    package var changed: [(key: RateCounterKey, allowance: RateCounter)] {
        var changed: [(key: RateCounterKey, allowance: RateCounter)] = []
        changed.reserveCapacity(changes.count)
        for change in changes {
            if let allowance = allowance(change.key) { changed.append((change.key, allowance)) }
        }
        return changed
    }

    /// The transaction is on disk.
    package mutating func hasCommitted() {
        for change in changes { slots[index(of: Self.short(change.key))].isChanged = false }
        changes.removeAll(keepingCapacity: true)
    }

    /// The transaction was rolled back.
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

    /// Forgets what is over, a little at a time: as much as is new since the last call pays for. Not to be called within a transaction.
    ///
    /// - Parameter isOver: by the end of an allowance.
    package mutating func tidy(_ isOver: (Int64) -> Bool) {
        // Where nothing new has room, nothing new pays.
        let looks = min(isFull ? max(owed, Self.lookupsPerInsert, slots.count / Self.segments) : owed, slots.count)
        owed = 0
        for _ in 0..<looks {
            // What stood behind it may have come to stand there.
            while slots[hand].key != 0, isOver(slots[hand].until) { remove(at: hand) }
            hand += 1
            guard hand == slots.count else { continue }
            hand = 0
            if slots.count > Self.leastSlots, count * 8 < slots.count { resize(to: slots.count / 2) }
        }
    }

    // MARK: Slots

    /// 0 stands for nothing.
    private static func short(_ key: RateCounterKey) -> UInt64 { max(1, key.low) }

    private func home(of key: UInt64) -> Int {
        Int(truncatingIfNeeded: (key &* multiplier) >> UInt64(64 - slots.count.trailingZeroBitCount))
    }

    /// Where the key stands, or would.
    private func index(of key: UInt64) -> Int {
        var index = home(of: key)
        while slots[index].key != 0, slots[index].key != key { index = (index + 1) & (slots.count - 1) }
        return index
    }

    /// Where the key stands from now on.
    private mutating func slotIndex(_ key: RateCounterKey) -> Int {
        let short = Self.short(key)
        let index = index(of: short)
        guard slots[index].key == 0 else { return index }
        if Self.isFull(slots.count, with: count) {
            resize(to: slots.count * 2)
            return slotIndex(key)
        }
        slots[index].key = short
        count += 1
        owed += Self.lookupsPerInsert
        return index
    }

    /// Those behind it that are not at their own place move up.
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
