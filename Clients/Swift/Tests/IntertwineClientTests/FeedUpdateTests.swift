import Foundation
import Testing

@testable import IntertwineClient

/// A model of a collection view, which applies batch updates by positions only.
struct Collection {
    var sections: [(id: String, keys: [Int])] = [("", [])]

    mutating func perform(_ update: FeedUpdate) {
        let moving = update.moves.map { (to: $0.to, key: sections[$0.from[0]].keys[$0.from[1]]) }
        let leaving = Set(update.deletions + update.moves.map(\.from))
        var left: [(id: String, keys: [Int])] = []
        for (index, section) in sections.enumerated() where !update.sectionDeletions.contains(index) {
            let keys = section.keys.indices.filter { !leaving.contains(IndexPath(indexes: [index, $0])) }.map { section.keys[$0] }
            left.append((section.id, keys))
        }
        for index in update.sectionInsertions { left.insert((update.sections[index].id, update.sections[index].keys), at: index) }
        let arriving = moving + update.insertions.map { (to: $0, key: update.sections[$0[0]].keys[$0[1]]) }
        for (to, key) in arriving.sorted(by: { $0.to < $1.to }) { left[to[0]].keys.insert(key, at: to[1]) }
        sections = left
    }

    func isEqual(to other: [FeedSection]) -> Bool {
        sections.map(\.id) == other.map(\.id) && sections.map(\.keys) == other.map(\.keys)
    }
}

@Suite struct FeedUpdateTests {
    @Test func tenThousandRandomUpdatesProduceTheNewLists() {
        var random = SystemRandomNumberGenerator()
        var collection = Collection()
        var shown = [FeedSection.empty]
        for _ in 0..<10_000 {
            let next = FeedSection.sections(of: Self.list(&random))
            let update = FeedUpdate(from: shown, to: next)
            collection.perform(update)
            #expect(collection.isEqual(to: next))
            #expect(Set(update.reconfigurations).isDisjoint(with: update.insertions))
            shown = next
        }
    }

    @Test func aMovedCellIsOneMove() {
        let before = FeedSection.sections(of: (0..<100).map { ListEntry(key: $0, cell: cell("user:\($0)")) })
        var entries = (0..<100).map { ListEntry(key: $0, cell: cell("user:\($0)")) }
        entries.insert(entries.remove(at: 90), at: 3)
        let update = FeedUpdate(from: before, to: FeedSection.sections(of: entries))
        #expect(update.moves == [FeedUpdate.Move(from: IndexPath(indexes: [0, 90]), to: IndexPath(indexes: [0, 3]))])
        #expect(update.deletions.isEmpty && update.insertions.isEmpty && update.reconfigurations.isEmpty)
    }

    /// Returns up to fifteen of twenty cells with up to three of four headers.
    private static func list(_ random: inout SystemRandomNumberGenerator) -> [ListEntry] {
        var entries = (0..<20).shuffled(using: &random).prefix(Int.random(in: 0...15, using: &random)).map { key in
            ListEntry(key: key, cell: cell("user:\(key)", text: Bool.random(using: &random) ? "a" : "b"))
        }
        for header in (100..<104).shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random)) {
            entries.insert(ListEntry(key: header, cell: cell("section:\(header)")), at: Int.random(in: 0...entries.count, using: &random))
        }
        return entries
    }
}

@Suite struct InitialsTests {
    @Test(arguments: [("Ada Lovelace", "AL"), (" ada king  of lovelace ", "AL"), ("Zoë", "Z"), ("李 小龙", "李小"), ("", "")])
    func initialsTakeThePlaceOfAMissingImage(name: String, initials: String) throws {
        let bindings = JSONValue.object(["username": .object(["type": .text("text"), "text": .text(name)])])
        let cell = try #require(
            FeedCell(
                .object([
                    "id": .text("user:a"),
                    "actions": .object(["configuration": .object(["type": .text("bind"), "bindings": bindings])]),
                ])))
        #expect(cell.initials(of: "username") == initials && cell.initials(of: "title").isEmpty)
    }
}
