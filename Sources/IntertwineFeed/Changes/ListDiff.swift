/// What turns one list of cells into another, as a batch update of a collection or a table wants it.
///
/// To apply it: take the cells at ``removed`` and at the beginnings of ``moved`` out of the old list, all by their old indices; then put
/// those of ``inserted`` and the moved ones in at their new indices, the lowest first; then replace those of ``reconfigured``, by their
/// new indices too. A list may hold a cell more than once: the first of the one is then the first of the other, and so on.
package struct ListDiff: Sendable, Hashable {
    package struct Move: Sendable, Hashable {
        /// In the old list.
        package var from: Int
        /// In the new one.
        package var to: Int

        package init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// Indices in the old list, ascending.
    package private(set) var removed: [Int] = []
    /// Indices in the new list, ascending.
    package private(set) var inserted: [Int] = []
    /// As few as can be, in the order of the old list.
    package private(set) var moved: [Move] = []
    /// Indices in the new list, ascending, of cells that were in the old one and show something else now; moved ones among them.
    package private(set) var reconfigured: [Int] = []

    private struct Occurrence: Hashable {
        var id: ByteString
        var number: Int
    }

    package init(from old: [ClientCell], to new: [ClientCell]) {
        var places: [Occurrence: Int] = [:]
        for (index, occurrence) in Self.occurrences(new).enumerated() { places[occurrence] = index }
        var kept: [Move] = []
        var isKept = [Bool](repeating: false, count: new.count)
        for (index, occurrence) in Self.occurrences(old).enumerated() {
            guard let place = places[occurrence] else {
                removed.append(index)
                continue
            }
            kept.append(Move(from: index, to: place))
            isKept[place] = true
            if old[index].digest != new[place].digest { reconfigured.append(place) }
        }
        reconfigured.sort()
        inserted = new.indices.filter { !isKept[$0] }
        let staying = Self.longestIncreasing(kept.map(\.to))
        moved = kept.indices.filter { !staying[$0] }.map { kept[$0] }
    }

    package var count: Int { removed.count + inserted.count + moved.count + reconfigured.count }

    private static func occurrences(_ cells: [ClientCell]) -> [Occurrence] {
        var numbers: [ByteString: Int] = [:]
        return cells.map { cell in
            let id = ByteString(cell.id)
            let number = numbers[id, default: 0]
            numbers[id] = number + 1
            return Occurrence(id: id, number: number)
        }
    }

    /// Which of the values, all different, belong to a longest increasing subsequence: what is not moved while the rest is. O(n log n).
    private static func longestIncreasing(_ values: [Int]) -> [Bool] {
        /// For each length, the index of the smallest value that a subsequence of that length can end with.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: values.count)
        for (index, value) in values.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if values[ends[middle]] < value { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[index] = ends[low - 1] }
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var isIn = [Bool](repeating: false, count: values.count)
        var index = ends.last
        while let current = index {
            isIn[current] = true
            index = previous[current]
        }
        return isIn
    }
}
