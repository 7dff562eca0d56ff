import Synchronization

/// - Admission: If the cache is full, only one of 8 new cells is stored. Why: Repeated pagination over more cells than the cache holds
/// would otherwise never get a cache hit.
package final class RenderedCellCache: Sendable {
    package final class Counters: Sendable {
        private let hitCount = Atomic(0)
        private let missCount = Atomic(0)
        private let evictionCount = Atomic(0)

        package init() {}

        package var hits: Int { hitCount.load(ordering: .relaxed) }
        package var misses: Int { missCount.load(ordering: .relaxed) }
        package var evictions: Int { evictionCount.load(ordering: .relaxed) }

        fileprivate func countHits(_ number: Int) {
            hitCount.add(number, ordering: .relaxed)
        }

        fileprivate func countMiss() {
            missCount.add(1, ordering: .relaxed)
        }

        fileprivate func countEvictions(_ number: Int) {
            evictionCount.add(number, ordering: .relaxed)
        }
    }

    /// The default memory limit of a cache in bytes: 32 MiB.
    static let defaultCapacity = 32 << 20

    private final class Stripe: Sendable {
        let state = Mutex(State())
    }

    /// The key is 0 if there is none.
    fileprivate typealias Entry = (key: UInt64, cell: RenderedCell?, size: UInt32, referenceBit: Bool)

    fileprivate static let none: Entry = (0, nil, 0, false)

    /// A hash table with open addressing that is at most half full.
    fileprivate struct State {
        private var entries = [Entry](repeating: none, count: 64)
        private(set) var count = 0
        /// The size of all cells in bytes.
        private(set) var size = 0
        private var hand = 0
        private var late = 0
    }

    private let stripes: [Stripe]
    private let shift: UInt64
    /// The capacity of each stripe, in bytes.
    private let capacity: Int
    private let counters: Counters

    package init(capacity: Int = defaultCapacity, counters: Counters = Counters()) {
        // A small cache has few stripes, because a cell must fit into one stripe.
        shift = capacity < 8 << 20 ? 60 : 58
        stripes = (0..<(1 << (64 - shift))).map { _ in Stripe() }
        self.capacity = max(0, capacity) / stripes.count
        self.counters = counters
    }

    /// The number of cached cells and their size in bytes.
    package var contents: (cells: Int, bytes: Int) {
        stripes.reduce((0, 0)) { sum, stripe in
            stripe.state.withLock { (sum.0 + $0.count, sum.1 + $0.size) }
        }
    }

    /// Callers report hits with ``countHits(_:)``, because a page looks up many cells.
    func cell(of row: ItemRow, in renderKey: RenderedCell.RenderKey, hour: UInt32, page: UInt32) -> RenderedCell? {
        guard capacity > 0 else {
            counters.countMiss()
            return nil
        }
        let key = Self.key(row, renderKey)
        let found = stripe(key).state.withLock { $0.cell(of: key) }
        guard let found, found.isGood(for: row, in: renderKey, hour: hour, page: page) else {
            counters.countMiss()
            return nil
        }
        return found
    }

    func countHits(_ number: Int) { counters.countHits(number) }

    func store(_ cell: RenderedCell) {
        let size = cell.size
        guard size <= capacity / 2 else { return }
        let key = cell.withRow { Self.key($0, cell.renderKey) }
        let evicted = stripe(key).state.withLock { state in
            guard state.admits(key, size, capacity) else { return 0 }
            state.put((key, cell, UInt32(clamping: size), false))
            return state.makeRoom(capacity)
        }
        if evicted > 0 { counters.countEvictions(evicted) }
    }

    private func stripe(_ key: UInt64) -> Stripe { stripes[Int(key >> shift)] }

    /// Returns the key of a row; never 0.
    private static func key(_ row: ItemRow, _ renderKey: RenderedCell.RenderKey) -> UInt64 {
        max(1, mix(mix(mix(seed, renderKey.hash), row.kind), row.id))
    }

    /// A random seed per process. Why: Clients must not be able to predict key collisions.
    private static let seed = UInt64.random(in: 1...(.max))

    private static func mix(_ hash: UInt64, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = mix(hash, UInt64(truncatingIfNeeded: bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            hash = mix(hash, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        return mix(hash, rest)
    }

    /// Folds both halves of a product, so that every input bit affects every output bit.
    @inline(__always)
    private static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let product = (hash ^ word ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}

extension RenderedCellCache.State {
    fileprivate mutating func cell(of key: UInt64) -> RenderedCell? {
        let slot = slot(of: key)
        guard entries[slot].key != 0 else { return nil }
        if !entries[slot].referenceBit { entries[slot].referenceBit = true }
        return entries[slot].cell
    }

    private static let share = 8

    fileprivate mutating func admits(_ key: UInt64, _ size: Int, _ capacity: Int) -> Bool {
        guard self.size + size > capacity, entries[slot(of: key)].key == 0 else { return true }
        late = (late + 1) % Self.share
        return late == 0
    }

    fileprivate mutating func put(_ entry: RenderedCellCache.Entry) {
        var slot = slot(of: entry.key)
        if entries[slot].key == 0 {
            count += 1
            if 2 * count > entries.count {
                grow()
                slot = self.slot(of: entry.key)
            }
        } else {
            size -= Int(entries[slot].size)
        }
        size += Int(entry.size)
        entries[slot] = entry
    }

    fileprivate mutating func makeRoom(_ capacity: Int) -> Int {
        var removed = 0
        while size > capacity, count > 0 {
            hand = (hand + 1) & mask
            guard entries[hand].key != 0 else { continue }
            if entries[hand].referenceBit {
                entries[hand].referenceBit = false
            } else {
                remove(at: hand)
                removed += 1
            }
        }
        return removed
    }

    private mutating func grow() {
        let old = entries
        entries = [RenderedCellCache.Entry](repeating: RenderedCellCache.none, count: 2 * old.count)
        for entry in old where entry.key != 0 { entries[slot(of: entry.key)] = entry }
    }

    private mutating func remove(at slot: Int) {
        count -= 1
        size -= Int(entries[slot].size)
        // Entries that follow and were displaced by the removed one move up (backward shift deletion).
        var hole = slot
        var next = (hole + 1) & mask
        while entries[next].key != 0 {
            if (next - home(of: entries[next].key)) & mask >= (next - hole) & mask {
                entries.swapAt(hole, next)
                hole = next
            }
            next = (next + 1) & mask
        }
        entries[hole] = RenderedCellCache.none
    }

    private var mask: Int { entries.count - 1 }

    private func home(of key: UInt64) -> Int { Int(truncatingIfNeeded: key) & mask }

    /// Returns the position of a key, or the empty position where it would be stored.
    private func slot(of key: UInt64) -> Int {
        var slot = home(of: key)
        while entries[slot].key != 0, entries[slot].key != key { slot = (slot + 1) & mask }
        return slot
    }
}
