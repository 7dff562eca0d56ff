/// The difference between two lists of cells, in the form of a batch update of a collection or table view.
///
/// To apply it: remove the cells at ``removed`` and at the sources of ``moved``, all by their old indices. Then insert the cells of
/// ``inserted`` and the moved ones at their new indices, lowest first. Then replace those of ``reconfigured`` by their new indices.
/// If a list contains a cell more than once, the occurrences are matched in order: the first with the first, and so on.
package struct ListDiff: Sendable, Hashable {
    package struct Move: Sendable, Hashable {
        /// The index in the old list.
        package var from: Int
        /// The index in the new list.
        package var to: Int

        package init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    /// The removed cells as indices in the old list, ascending.
    package private(set) var removed: [Int] = []
    /// The inserted cells as indices in the new list, ascending.
    package private(set) var inserted: [Int] = []
    /// The minimum number of moves, in the order of the old list.
    package private(set) var moved: [Move] = []
    /// The changed cells that were in the old list, including moved ones, as indices in the new list, ascending.
    package private(set) var reconfigured: [Int] = []

    private struct Occurrence: Hashable {
        var id: ByteString
        var number: Int
    }

    package init(from old: [ClientCell], to new: [ClientCell]) {
        var places: [Occurrence: Int] = [:]
        for (index, occurrence) in Self.occurrences(new).enumerated() { places[occurrence] = index }
        var common: [Move] = []
        var isCommon = [Bool](repeating: false, count: new.count)
        for (index, occurrence) in Self.occurrences(old).enumerated() {
            guard let place = places[occurrence] else {
                removed.append(index)
                continue
            }
            common.append(Move(from: index, to: place))
            isCommon[place] = true
            if old[index].digest != new[place].digest { reconfigured.append(place) }
        }
        reconfigured.sort()
        inserted = new.indices.filter { !isCommon[$0] }
        let staying = Self.longestIncreasing(common.map(\.to))
        moved = common.indices.filter { !staying[$0] }.map { common[$0] }
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

    /// Returns which of the distinct values belong to a longest increasing subsequence; the others are moved. O(n log n).
    static func longestIncreasing(_ values: [Int]) -> [Bool] {
        /// The index of the smallest value that can end a subsequence, by length.
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
