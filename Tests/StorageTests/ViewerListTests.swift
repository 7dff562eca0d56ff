import Feed
import Storage
import TestSupport
import Testing

@Suite("Viewers' lists")
struct ViewerListTests {
    let scratch: Scratch
    let ledger: SQLiteLedger

    init() throws {
        scratch = try Scratch()
        ledger = try SQLiteLedger(path: scratch.path("ledger.sqlite"))
    }

    private func cells(_ list: ViewerList = .saved, of viewer: String = "v", limit: Int = 100) async throws -> [String] {
        var cells: [ListedCell] = []
        while case let page = try await ledger.cells(on: list, of: viewer, after: cells.last?.mark, limit: limit), !page.isEmpty {
            cells += page
        }
        return cells.map(\.cell)
    }

    private func change(_ changes: ViewerChange...) async throws {
        _ = try await ledger.commit(LedgerEntry(changes: changes))
    }

    @Test("newest first, each cell once, in pages of any size", arguments: [1, 2, 100])
    func order(limit: Int) async throws {
        for (number, cell) in ["a", "b", "c", "a"].enumerated() {
            try await change(.add(list: .saved, viewer: "v", cell: cell, performance: "\(number)", at: 0))
        }
        try await change(
            .add(list: .saved, viewer: "w", cell: "x", performance: "5", at: 0),
            .add(list: .dismissed, viewer: "v", cell: "y", performance: "6", at: 0))
        #expect(try await cells(limit: limit) == ["a", "c", "b"])
        #expect(try await cells(.dismissed, limit: limit) == ["y"])
        #expect(try await cells(of: "nobody", limit: limit).isEmpty)
        // And back, from the last to the first.
        let all = try await ledger.cells(on: .saved, of: "v", after: nil, limit: 100)
        var back = [try #require(all.last)]
        while let last = back.last,
            case let page = try await ledger.cells(on: .saved, of: "v", before: last.mark, limit: limit), !page.isEmpty
        {
            back += page
        }
        #expect(back == all.reversed())
    }

    @Test("a cell stays until the last performance that put it there is taken back")
    func performances() async throws {
        try await change(
            .add(list: .saved, viewer: "v", cell: "a", performance: "1", at: 0),
            .add(list: .saved, viewer: "v", cell: "a", performance: "2", at: 0))
        try await change(.add(list: .saved, viewer: "v", cell: "a", performance: "2", at: 0))
        try await change(.remove(list: .saved, viewer: "v", cell: "a", performance: "2"))
        #expect(try await cells() == ["a"])
        try await change(.remove(list: .saved, viewer: "v", cell: "a", performance: "2"))
        #expect(try await cells() == ["a"])
        try await change(.remove(list: .saved, viewer: "v", cell: "a", performance: "1"))
        #expect(try await cells().isEmpty)
    }

    @Test("after any sequence of performances and undo, only those that were not undone have run", arguments: [1, 2, 3, 4] as [UInt64])
    func model(seed: UInt64) async throws {
        var generator = SeededRandom(seed: seed)
        /// Performances that stand, oldest first.
        var standing: [(id: String, list: ViewerList, viewer: String, cell: String)] = []
        for number in 0..<120 {
            if Int.random(in: 0..<5, using: &generator) < 2, let index = standing.indices.randomElement(using: &generator) {
                let undone = standing.remove(at: index)
                let entry = LedgerEntry(
                    changes: [.remove(list: undone.list, viewer: undone.viewer, cell: undone.cell, performance: undone.id)],
                    undoes: undone.id)
                #expect(try await ledger.commit(entry).outcome == .committed)
                // A second time changes nothing, whatever it brings along.
                let again = LedgerEntry(
                    changes: [.add(list: undone.list, viewer: undone.viewer, cell: "never", performance: "never", at: 0)], undoes: undone.id
                )
                #expect(try await ledger.commit(again).outcome == .alreadyUndone)
            } else {
                let list = Bool.random(using: &generator) ? ViewerList.saved : .dismissed
                let viewer = Bool.random(using: &generator) ? "v" : "w"
                let cell = "cell \(Int.random(in: 0..<6, using: &generator))"
                let selection = SelectionRecord(id: "\(number)", cell: cell, viewer: viewer, steps: [], expires: .max)
                let change = ViewerChange.add(list: list, viewer: viewer, cell: cell, performance: "\(number)", at: 0)
                // One that fails half-way, because its selection's id is taken, leaves nothing.
                if let taken = standing.randomElement(using: &generator), number % 4 == 0 {
                    let failing = SelectionRecord(id: taken.id, cell: cell, viewer: viewer, steps: [], expires: .max)
                    await #expect(throws: StoreError.self) { try await ledger.commit(LedgerEntry(changes: [change], selection: failing)) }
                }
                _ = try await ledger.commit(LedgerEntry(changes: [change], selection: selection))
                standing.append(("\(number)", list, viewer, cell))
            }
            guard number % 10 == 9 else { continue }
            for list in [ViewerList.saved, .dismissed] {
                for viewer in ["v", "w"] {
                    var expected: [String] = []
                    for performance in standing.reversed() where performance.list == list && performance.viewer == viewer {
                        if !expected.contains(performance.cell) { expected.append(performance.cell) }
                    }
                    #expect(try await cells(list, of: viewer, limit: 2) == expected)
                }
            }
        }
    }
}
