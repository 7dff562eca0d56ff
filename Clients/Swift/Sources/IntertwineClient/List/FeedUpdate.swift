public import Foundation

/// The difference between two states of a list, in the form of `performBatchUpdates`.
///
/// Deletions and sources of moves are old positions; insertions and targets of moves are new positions. Reconfigurations are applied after the
/// batch, at new positions. Cells of deleted or inserted sections are not listed, because they change together with their section.
///
/// ```swift
/// collectionView.performBatchUpdates {
///     sections = update.sections
///     collectionView.deleteSections(update.sectionDeletions)
///     collectionView.insertSections(update.sectionInsertions)
///     collectionView.deleteItems(at: update.deletions)
///     collectionView.insertItems(at: update.insertions)
///     for move in update.moves { collectionView.moveItem(at: move.from, to: move.to) }
/// }
/// ```
public struct FeedUpdate: Sendable {
    /// A move of a cell.
    public struct Move: Sendable, Hashable {
        /// The old position.
        public let from: IndexPath
        /// The new position.
        public let to: IndexPath
    }

    /// The deleted sections, as old indices.
    public let sectionDeletions: IndexSet
    /// The inserted sections, as new indices.
    public let sectionInsertions: IndexSet
    /// The deleted cells as old positions, last first.
    public let deletions: [IndexPath]
    /// The inserted cells as new positions, first first.
    public let insertions: [IndexPath]
    /// The moved cells.
    public let moves: [Move]
    /// The changed cells as new positions, for `reconfigureItems` after the batch.
    public let reconfigurations: [IndexPath]
    /// The sections with changed headers, as new indices.
    public let sectionReconfigurations: IndexSet
    /// The list after the update, which the data source returns from within the batch on.
    public let sections: [FeedSection]

    /// A Boolean value indicating whether the two states are equal.
    public var isEmpty: Bool {
        sectionDeletions.isEmpty && sectionInsertions.isEmpty && deletions.isEmpty && insertions.isEmpty && moves.isEmpty
            && reconfigurations.isEmpty && sectionReconfigurations.isEmpty
    }

    /// Compares two lists by the keys of their cells and the ids of their sections.
    init(from old: [FeedSection], to new: [FeedSection]) {
        let staying = Self.stayingSections(old.map(\.id), new.map(\.id))
        let oldPositions = Self.positions(in: old) { staying.old.contains($0) }
        let newPositions = Self.positions(in: new) { staying.new.contains($0) }

        sections = new
        sectionDeletions = IndexSet(old.indices.filter { !staying.old.contains($0) })
        sectionInsertions = IndexSet(new.indices.filter { !staying.new.contains($0) })
        deletions = oldPositions.filter { newPositions[$0.key] == nil }.values.sorted(by: >)
        insertions = newPositions.filter { oldPositions[$0.key] == nil }.values.sorted()

        var moves: [Move] = []
        var reconfigurations: [IndexPath] = []
        for (index, section) in new.enumerated() where staying.new.contains(index) {
            // As many cells of this section as possible keep their position without a move.
            let here = section.keys.enumerated().compactMap { item, key in oldPositions[key].map { (item, $0) } }
            let same = here.filter { old[$0.1[0]].id == section.id }
            let fixed = Set(longestIncreasingSubsequence(same.map { $0.1[1] }).map { same[$0].0 })
            for (item, from) in here {
                let to = IndexPath(indexes: [index, item])
                if !fixed.contains(item) { moves.append(Move(from: from, to: to)) }
                if old[from[0]].cells[from[1]] != section.cells[item] { reconfigurations.append(to) }
            }
        }
        self.moves = moves
        self.reconfigurations = reconfigurations
        let headers = Dictionary(old.map { ($0.id, $0.header) }, uniquingKeysWith: { first, _ in first })
        sectionReconfigurations = IndexSet(new.indices.filter { staying.new.contains($0) && headers[new[$0].id] != .some(new[$0].header) })
    }

    /// Returns the sections that are in both lists in equal order; the others are deleted and inserted.
    private static func stayingSections(_ old: [String], _ new: [String]) -> (old: Set<Int>, new: Set<Int>) {
        let positions = Dictionary(old.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        var seen: Set<String> = []
        let common = new.indices.filter { positions[new[$0]] != nil && seen.insert(new[$0]).inserted }
        let fixed = longestIncreasingSubsequence(common.map { positions[new[$0]] ?? 0 }).map { common[$0] }
        return (Set(fixed.compactMap { positions[new[$0]] }), Set(fixed))
    }

    private static func positions(in sections: [FeedSection], where isIncluded: (Int) -> Bool) -> [Int: IndexPath] {
        var positions: [Int: IndexPath] = [:]
        for (index, section) in sections.enumerated() where isIncluded(index) {
            for (item, key) in section.keys.enumerated() { positions[key] = IndexPath(indexes: [index, item]) }
        }
        return positions
    }
}

/// Returns the indices of a longest increasing subsequence.
func longestIncreasingSubsequence(_ values: [Int]) -> [Int] {
    /// The index of the smallest value that can end a subsequence, by length.
    var ends: [Int] = []
    var before = [Int](repeating: -1, count: values.count)
    for (index, value) in values.enumerated() {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if values[ends[middle]] < value { low = middle + 1 } else { high = middle }
        }
        if low > 0 { before[index] = ends[low - 1] }
        if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var rise: [Int] = []
    var index = ends.last ?? -1
    while index >= 0 {
        rise.append(index)
        index = before[index]
    }
    return rise.reversed()
}
