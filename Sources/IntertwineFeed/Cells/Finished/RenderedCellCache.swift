import Synchronization

/// Finished cells, kept within a number of bytes for the pages to come.
///
/// A cell is found by its item and by what it was made under, and is good only where the row that was just read has the very bytes that it
/// was made of: nothing has to be told of changes, whoever makes them. Where there is no room, those go first that nobody asked for
/// since the last round, and few of the new ones take their places: whoever walks again and again over more cells than there is room for
/// would else never find one.
package final class RenderedCellCache: Sendable {
    /// Counts on when one keeper of cells follows another.
    public final class Counters: Sendable {
        private let hitCount = Atomic(0)
        private let missCount = Atomic(0)
        private let evictionCount = Atomic(0)

        public init() {}

        /// Cells that were put on pages as they lay ready.
        public var hits: Int { hitCount.load(ordering: .relaxed) }
        /// Cells that had to be made.
        public var misses: Int { missCount.load(ordering: .relaxed) }
        /// Cells that went to make room.
        public var evictions: Int { evictionCount.load(ordering: .relaxed) }

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

    public static let defaultCapacity = 32 << 20

    /// Each with a lock of its own.
    private final class Stripe: Sendable {
        let state = Mutex(State())
    }

    /// A place of a shelf: what a look-up reads stands together.
    fileprivate struct EntryKey {
        /// 0 where the place is empty.
        var key: UInt64 = 0
        var cell: RenderedCell?
        var size: UInt32 = 0
        var referenceBit = false
    }

    /// Found by keys that are spread evenly as they are: open addressing, never more than half full.
    fileprivate struct State {
        private var entries = [EntryKey](repeating: EntryKey(), count: 64)
        private(set) var count = 0
        /// Bytes of the cells.
        private(set) var size = 0
        /// Where the round stands that makes room.
        private var hand = 0
        /// Cells that came when there was no room.
        private var late = 0
    }

    private let shelves: [Stripe]
    /// The bits of a key that say nothing of its shelf.
    private let shift: UInt64
    /// Of each shelf.
    private let capacity: Int
    private let counters: Counters

    /// - Parameter capacity: bytes; 0 keeps nothing.
    public init(capacity: Int = defaultCapacity, counters: Counters = Counters()) {
        // Few shelves where there is little room: a cell has to fit into one.
        shift = capacity < 8 << 20 ? 60 : 58
        shelves = (0..<(1 << (64 - shift))).map { _ in Stripe() }
        self.capacity = max(0, capacity) / shelves.count
        self.counters = counters
    }

    /// Cells that are kept, and their bytes.
    public var contents: (cells: Int, bytes: Int) {
        shelves.reduce((0, 0)) { sum, shelf in
            shelf.state.withLock { (sum.0 + $0.count, sum.1 + $0.size) }
        }
    }

    /// The finished cell of a row, if it is kept; allocates nothing. Whoever asks counts what is found, by ``countHits(_:)``: pages ask for
    /// many.
    func cell(of row: ItemRow, in circumstances: RenderedCell.RenderKey, hour: UInt32, page: UInt32) -> RenderedCell? {
        guard capacity > 0 else {
            counters.countMiss()
            return nil
        }
        let key = Self.key(row, circumstances)
        let found = stripe(key).state.withLock { $0.cell(of: key) }
        guard let found, found.isGood(for: row, in: circumstances, hour: hour, page: page) else {
            counters.countMiss()
            return nil
        }
        return found
    }

    func countHits(_ number: Int) { counters.countHits(number) }

    /// Keeps a cell in the place of one that its item had under the same circumstances.
    func store(_ cell: RenderedCell) {
        let size = cell.size
        guard size <= capacity / 2 else { return }
        let key = cell.withRow { Self.key($0, cell.circumstances) }
        let evicted = stripe(key).state.withLock { state in
            guard state.admits(key, size, capacity) else { return 0 }
            state.put(EntryKey(key: key, cell: cell, size: UInt32(clamping: size)))
            return state.makeRoom(capacity)
        }
        if evicted > 0 { counters.countEvictions(evicted) }
    }

    private func stripe(_ key: UInt64) -> Stripe { shelves[Int(key >> shift)] }

    /// Never 0. Two cells with one key take turns; the loser is made anew.
    private static func key(_ row: ItemRow, _ circumstances: RenderedCell.RenderKey) -> UInt64 {
        max(1, mix(mix(mix(seed, circumstances.hash), row.kind), row.id))
    }

    /// Another one in each process, so that nobody knows which items' cells would take turns.
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

    /// Both halves of a product, folded: every bit of the factors has a say in all of it.
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

    /// Of the cells that come when there is no room, one in so many is kept.
    private static let share = 8

    /// Whether a cell is to be kept: in the place of one with its key it always is.
    fileprivate mutating func admits(_ key: UInt64, _ size: Int, _ capacity: Int) -> Bool {
        guard self.size + size > capacity, entries[slot(of: key)].key == 0 else { return true }
        late = (late + 1) % Self.share
        return late == 0
    }

    fileprivate mutating func put(_ place: RenderedCellCache.EntryKey) {
        var slot = slot(of: place.key)
        if entries[slot].key == 0 {
            count += 1
            if 2 * count > entries.count {
                grow()
                slot = self.slot(of: place.key)
            }
        } else {
            size -= Int(entries[slot].size)
        }
        size += Int(place.size)
        entries[slot] = place
    }

    /// Second chance: what was asked for since the hand last passed stays for another round.
    ///
    /// - Returns: how many went.
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
        entries = [RenderedCellCache.EntryKey](repeating: RenderedCellCache.EntryKey(), count: 2 * old.count)
        for place in old where place.key != 0 { entries[slot(of: place.key)] = place }
    }

    private mutating func remove(at slot: Int) {
        count -= 1
        size -= Int(entries[slot].size)
        // What stands behind it, and was pushed on by it, moves up.
        var hole = slot
        var next = (hole + 1) & mask
        while entries[next].key != 0 {
            if (next - home(of: entries[next].key)) & mask >= (next - hole) & mask {
                entries.swapAt(hole, next)
                hole = next
            }
            next = (next + 1) & mask
        }
        entries[hole] = RenderedCellCache.EntryKey()
    }

    private var mask: Int { entries.count - 1 }

    private func home(of key: UInt64) -> Int { Int(truncatingIfNeeded: key) & mask }

    /// Where the key stands, or would.
    private func slot(of key: UInt64) -> Int {
        var slot = home(of: key)
        while entries[slot].key != 0, entries[slot].key != key { slot = (slot + 1) & mask }
        return slot
    }
}
