import Foundation

/// What changed between two states of a list, as `performBatchUpdates` takes it: what is removed and where moves begin are old places, what
/// is inserted and where moves end are new ones. What is reconfigured comes behind all that, at new places.
///
/// Cells of sections that go or come are in none of the lists: they go and come with their section.
public struct FeedUpdate: Sendable {
    public struct Move: Sendable, Hashable {
        public let from: IndexPath
        public let to: IndexPath
    }

    /// Old.
    public let removedSections: IndexSet
    /// New.
    public let insertedSections: IndexSet
    /// Old places, the last first.
    public let removed: [IndexPath]
    /// New places, the first first.
    public let inserted: [IndexPath]
    public let moved: [Move]
    /// New places, for `reconfigureItems` behind the batch.
    public let reconfigured: [IndexPath]
    /// New sections whose headers show something else.
    public let reconfiguredSections: IndexSet
    /// The list behind the update: what the data source answers from within the batch on.
    public let sections: [FeedSection]

    public var isEmpty: Bool {
        removedSections.isEmpty && insertedSections.isEmpty && removed.isEmpty && inserted.isEmpty && moved.isEmpty && reconfigured.isEmpty
            && reconfiguredSections.isEmpty
    }

    /// Compares two lists by their cells' keys and their sections' ids.
    init(from old: [FeedSection], to new: [FeedSection]) {
        let staying = Self.stayingSections(old.map(\.id), new.map(\.id))
        let oldPlaces = Self.places(in: old) { staying.old.contains($0) }
        let newPlaces = Self.places(in: new) { staying.new.contains($0) }

        sections = new
        removedSections = IndexSet(old.indices.filter { !staying.old.contains($0) })
        insertedSections = IndexSet(new.indices.filter { !staying.new.contains($0) })
        removed = oldPlaces.filter { newPlaces[$0.key] == nil }.values.sorted(by: >)
        inserted = newPlaces.filter { oldPlaces[$0.key] == nil }.values.sorted()

        var moved: [Move] = []
        var reconfigured: [IndexPath] = []
        for (index, section) in new.enumerated() where staying.new.contains(index) {
            // Of those that were in this section before, as many as possible stay where they are.
            let here = section.keys.enumerated().compactMap { item, key in oldPlaces[key].map { (item, $0) } }
            let same = here.filter { old[$0.1[0]].id == section.id }
            let fixed = Set(longestRise(same.map { $0.1[1] }).map { same[$0].0 })
            for (item, from) in here {
                let to = IndexPath(indexes: [index, item])
                if !fixed.contains(item) { moved.append(Move(from: from, to: to)) }
                if old[from[0]].cells[from[1]] != section.cells[item] { reconfigured.append(to) }
            }
        }
        self.moved = moved
        self.reconfigured = reconfigured
        let headers = Dictionary(old.map { ($0.id, $0.header) }, uniquingKeysWith: { first, _ in first })
        reconfiguredSections = IndexSet(new.indices.filter { staying.new.contains($0) && headers[new[$0].id] != .some(new[$0].header) })
    }

    /// The sections that are in both, in the same order; others go and come.
    private static func stayingSections(_ old: [String], _ new: [String]) -> (old: Set<Int>, new: Set<Int>) {
        let places = Dictionary(old.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        var seen: Set<String> = []
        let common = new.indices.filter { places[new[$0]] != nil && seen.insert(new[$0]).inserted }
        let fixed = longestRise(common.map { places[new[$0]] ?? 0 }).map { common[$0] }
        return (Set(fixed.compactMap { places[new[$0]] }), Set(fixed))
    }

    private static func places(in sections: [FeedSection], where isWanted: (Int) -> Bool) -> [Int: IndexPath] {
        var places: [Int: IndexPath] = [:]
        for (index, section) in sections.enumerated() where isWanted(index) {
            for (item, key) in section.keys.enumerated() { places[key] = IndexPath(indexes: [index, item]) }
        }
        return places
    }
}

/// The places of a longest rising subsequence.
func longestRise(_ values: [Int]) -> [Int] {
    /// Of each length, the place of the smallest value that such a rise can end with.
    var ends: [Int] = []
    var before = [Int](repeating: -1, count: values.count)
    for (place, value) in values.enumerated() {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if values[ends[middle]] < value { low = middle + 1 } else { high = middle }
        }
        if low > 0 { before[place] = ends[low - 1] }
        if low == ends.count { ends.append(place) } else { ends[low] = place }
    }
    var rise: [Int] = []
    var place = ends.last ?? -1
    while place >= 0 {
        rise.append(place)
        place = before[place]
    }
    return rise.reversed()
}
