import Synchronization

/// Finished cells, kept within a number of bytes for the pages to come.
///
/// A cell is found by its item and by what it was made under, and is good only where the row that was just read has the very bytes that it
/// was made of: nothing has to be told of changes, whoever makes them. Where there is no room, those go first that nobody asked for
/// since the last round.
public final class FinishedCells: Sendable {
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

        fileprivate func count(isHit: Bool) {
            if isHit { hitCount.add(1, ordering: .relaxed) } else { missCount.add(1, ordering: .relaxed) }
        }

        fileprivate func countEvictions(_ number: Int) {
            evictionCount.add(number, ordering: .relaxed)
        }
    }

    public static let defaultCapacity = 32 << 20

    /// Each with a lock of its own.
    private final class Shelf: Sendable {
        let state = Mutex(State())
    }

    fileprivate struct Place {
        var key: UInt64
        var cell: FinishedCell
        var size: Int
        var isWanted = false
    }

    fileprivate struct State {
        var indices: [UInt64: Int] = [:]
        /// In the order of the rounds that make room.
        var places: [Place?] = []
        var free: [Int] = []
        var hand = 0
        var size = 0
    }

    private let shelves: [Shelf]
    /// Of each shelf.
    private let capacity: Int
    private let counters: Counters

    /// - Parameter capacity: bytes; 0 keeps nothing.
    public init(capacity: Int = defaultCapacity, counters: Counters = Counters()) {
        shelves = (0..<16).map { _ in Shelf() }
        self.capacity = max(0, capacity) / shelves.count
        self.counters = counters
    }

    /// Cells that are kept, and their bytes.
    public var contents: (cells: Int, bytes: Int) {
        shelves.reduce((0, 0)) { sum, shelf in
            shelf.state.withLock { (sum.0 + $0.indices.count, sum.1 + $0.size) }
        }
    }

    /// The finished cell of a row, if it is kept; allocates nothing.
    func cell(of row: ItemRow, in circumstances: FinishedCell.Circumstances, hour: UInt32, page: UInt32) -> FinishedCell? {
        guard capacity > 0 else {
            counters.count(isHit: false)
            return nil
        }
        let key = Self.key(row, circumstances)
        let found = shelf(key).state.withLock { state -> FinishedCell? in
            guard let index = state.indices[key], let cell = state.places[index]?.cell else { return nil }
            state.places[index]?.isWanted = true
            return cell
        }
        guard let found, found.isGood(for: row, in: circumstances, hour: hour, page: page) else {
            counters.count(isHit: false)
            return nil
        }
        counters.count(isHit: true)
        return found
    }

    /// Keeps a cell in the place of one that its item had under the same circumstances.
    func keep(_ cell: FinishedCell) {
        let size = cell.size
        guard size <= capacity / 2 else { return }
        let key = cell.item.withRow { Self.key($0, cell.circumstances) }
        let evicted = shelf(key).state.withLock { state in
            state.put(Place(key: key, cell: cell, size: size))
            return state.makeRoom(capacity)
        }
        if evicted > 0 { counters.countEvictions(evicted) }
    }

    private func shelf(_ key: UInt64) -> Shelf { shelves[Int(key >> 60)] }

    /// Two cells with one key take turns; the loser is made anew.
    private static func key(_ row: ItemRow, _ circumstances: FinishedCell.Circumstances) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(bytes: row.kind)
        hasher.combine(bytes: row.id)
        hasher.combine(circumstances)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

extension FinishedCells.State {
    fileprivate mutating func put(_ place: FinishedCells.Place) {
        size += place.size
        if let index = indices[place.key] {
            size -= places[index]?.size ?? 0
            places[index] = place
        } else if let index = free.popLast() {
            indices[place.key] = index
            places[index] = place
        } else {
            indices[place.key] = places.count
            places.append(place)
        }
    }

    /// Second chance: what was asked for since the hand last passed stays for another round.
    ///
    /// - Returns: how many went.
    fileprivate mutating func makeRoom(_ capacity: Int) -> Int {
        var count = 0
        while size > capacity, !indices.isEmpty {
            hand = hand + 1 < places.count ? hand + 1 : 0
            guard let place = places[hand] else { continue }
            if place.isWanted {
                places[hand]?.isWanted = false
            } else {
                indices[place.key] = nil
                places[hand] = nil
                free.append(hand)
                size -= place.size
                count += 1
            }
        }
        return count
    }
}
