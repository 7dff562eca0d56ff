package struct ListDiff: Sendable, Hashable {
    package struct Move: Sendable, Hashable {
        package var from: Int
        package var to: Int

        package init(from: Int, to: Int) {
            self.from = from
            self.to = to
        }
    }

    package private(set) var removed: [Int] = []
    package private(set) var inserted: [Int] = []
    package private(set) var moved: [Move] = []
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

    static func longestIncreasing(_ values: [Int]) -> [Bool] {
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
