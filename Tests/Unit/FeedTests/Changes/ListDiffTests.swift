import TestSupport
import Testing

@testable import IntertwineFeed

@Suite("Differences between lists of cells")
struct ListDiffTests {
    @Test("The difference transforms the old list into the new list with the fewest moves", arguments: 0..<300)
    func property(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let old = Self.list(&random)
        let new = Bool.random(using: &random) ? Self.list(&random) : Self.edited(old, &random)
        let changes = ListDiff(from: old, to: new)
        #expect(Self.apply(changes, to: old, taking: new) == new)
        let isUnique = Set(old.map(\.id)).count == old.count && Set(new.map(\.id)).count == new.count
        if isUnique { #expect(changes.moved.count == Self.leastMoves(old, new)) }
        #expect(changes.removed == changes.removed.sorted() && changes.inserted == changes.inserted.sorted())
        #expect(changes.reconfigured == changes.reconfigured.sorted())
        #expect(Set(changes.removed).isDisjoint(with: changes.moved.map(\.from)))
        #expect(Set(changes.inserted).isDisjoint(with: changes.moved.map(\.to) + changes.reconfigured))
        #expect(ListDiff(from: new, to: new).count == 0)
    }

    @Test("One cell moved over many is one move")
    func oneMove() {
        let old = (0..<50).map { ClientCell(id: "\($0)", digest: 0) }
        let forward = ListDiff(from: old, to: Array(old.dropFirst()) + [old[0]])
        #expect(forward.moved == [ListDiff.Move(from: 0, to: 49)] && forward.count == 1)
        let backward = ListDiff(from: old, to: [old[49]] + old.dropLast())
        #expect(backward.moved == [ListDiff.Move(from: 49, to: 0)] && backward.count == 1)
    }

    @Test("A moved and changed cell is in both lists, and duplicate ids are distinguished")
    func both() {
        let old = [
            ClientCell(id: "a", digest: 1), ClientCell(id: "x", digest: 1), ClientCell(id: "b", digest: 1), ClientCell(id: "x", digest: 1),
        ]
        let new = [
            ClientCell(id: "x", digest: 1), ClientCell(id: "b", digest: 1), ClientCell(id: "x", digest: 2), ClientCell(id: "a", digest: 3),
        ]
        let changes = ListDiff(from: old, to: new)
        #expect(changes.moved == [ListDiff.Move(from: 0, to: 3)])
        #expect(changes.reconfigured == [2, 3])
        #expect(changes.removed.isEmpty && changes.inserted.isEmpty)
    }

    /// Applies changes as the API description specifies.
    static func apply<Cell>(_ changes: ListDiff, to old: [Cell], taking new: [Cell]) -> [Cell] {
        var list = old
        for index in (changes.removed + changes.moved.map(\.from)).sorted(by: >) { list.remove(at: index) }
        let placed = changes.inserted.map { ($0, new[$0]) } + changes.moved.map { ($0.to, old[$0.from]) }
        for (index, cell) in placed.sorted(by: { $0.0 < $1.0 }) { list.insert(cell, at: index) }
        for index in changes.reconfigured { list[index] = new[index] }
        return list
    }

    private static func list(_ random: inout SeededRandom) -> [ClientCell] {
        let names = Int.random(in: 1...40, using: &random)
        let isUnique = Bool.random(using: &random)
        var ids = (0..<Int.random(in: 0...30, using: &random)).map { _ in Int.random(in: 0..<names, using: &random) }
        if isUnique { ids = Array(Set(ids)).sorted().shuffled(using: &random) }
        return ids.map { ClientCell(id: "user:\($0)", digest: UInt64.random(in: 0..<3, using: &random)) }
    }

    private static func edited(_ old: [ClientCell], _ random: inout SeededRandom) -> [ClientCell] {
        var list = old
        for number in 0..<Int.random(in: 0...6, using: &random) {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: list.insert(ClientCell(id: "new:\(number)", digest: 0), at: Int.random(in: 0...list.count, using: &random))
            case _ where list.isEmpty: break
            case 1: list.remove(at: Int.random(in: 0..<list.count, using: &random))
            case 2: list[Int.random(in: 0..<list.count, using: &random)].digest += 5
            default:
                let cell = list.remove(at: Int.random(in: 0..<list.count, using: &random))
                list.insert(cell, at: Int.random(in: 0...list.count, using: &random))
            }
        }
        return list
    }

    /// The number of common cells minus the longest run in equal order, computed by exhaustive search.
    private static func leastMoves(_ old: [ClientCell], _ new: [ClientCell]) -> Int {
        let kept = old.compactMap { cell in new.firstIndex { $0.id == cell.id } }
        var best: [Int] = []
        for (index, place) in kept.enumerated() { best.append(1 + (0..<index).filter { kept[$0] < place }.map { best[$0] }.reduce(0, max)) }
        return kept.count - best.reduce(0, max)
    }
}
