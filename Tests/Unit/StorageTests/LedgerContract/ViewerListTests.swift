import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Viewers' lists, in every ledger")
struct ViewerListTests {
    @Test(
        "A list is newest first, with each cell once at its first position, in pages of any size", arguments: LedgerKind.allCases,
        [1, 2, 100])
    func order(kind: LedgerKind, limit: Int) async throws {
        let bench = try LedgerBench(kind)
        let ledger = bench.ledger
        for (number, cell) in ["a", "b", "c", "a"].enumerated() {
            try await bench.change(.add(list: .saved, viewer: "v", cell: cell, performance: "\(number)", at: 0))
        }
        try await bench.change(
            .add(list: .saved, viewer: "w", cell: "x", performance: "5", at: 0),
            .add(list: .dismissed, viewer: "v", cell: "y", performance: "6", at: 0))
        #expect(try await bench.cells(limit: limit) == ["c", "b", "a"])
        #expect(try await bench.cells(.dismissed, limit: limit) == ["y"])
        #expect(try await bench.cells(of: "nobody", limit: limit).isEmpty)
        let latest = try ledger.withCells(on: [.saved], of: "v") { try $0[0]?.cells(limit: limit) ?? [] }
        #expect(Set(latest) == Set(["c", "b", "a"].prefix(limit)))
        // And back, from the last to the first.
        let all = try await ledger.cells(on: .saved, of: "v", after: nil, limit: 100)
        var back = [try #require(all.last)]
        while let last = back.last,
            case let page = try await ledger.cells(on: .saved, of: "v", before: last.entryID, limit: limit), !page.isEmpty
        {
            back += page
        }
        #expect(back == all.reversed())
    }

    @Test("A cell stays listed until its last performance is undone", arguments: LedgerKind.allCases)
    func performances(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        try await bench.change(
            .add(list: .saved, viewer: "v", cell: "a", performance: "1", at: 0),
            .add(list: .saved, viewer: "v", cell: "a", performance: "2", at: 0))
        try await bench.change(.add(list: .saved, viewer: "v", cell: "a", performance: "2", at: 0))
        try await bench.change(.revert(list: .saved, viewer: "v", cell: "a", performance: "2"))
        #expect(try await bench.cells() == ["a"])
        try await bench.change(.revert(list: .saved, viewer: "v", cell: "a", performance: "2"))
        #expect(try await bench.cells() == ["a"])
        try await bench.change(.revert(list: .saved, viewer: "v", cell: "a", performance: "1"))
        #expect(try await bench.cells().isEmpty)
    }

    @Test(
        "Any sequence of performances and undos equals the performances that were not undone", arguments: LedgerKind.allCases,
        [1, 2, 3, 4] as [UInt64])
    func model(kind: LedgerKind, seed: UInt64) async throws {
        let bench = try LedgerBench(kind)
        let ledger = bench.ledger
        var generator = SeededRandom(seed: seed)
        /// Performances that stand, oldest first.
        var standing: [(id: String, list: ViewerList, viewer: String, cell: String, removes: Bool)] = []
        for number in 0..<120 {
            if Int.random(in: 0..<5, using: &generator) < 2, let index = standing.indices.randomElement(using: &generator) {
                let undone = standing.remove(at: index)
                let entry = LedgerEntry(
                    changes: [.revert(list: undone.list, viewer: undone.viewer, cell: undone.cell, performance: undone.id)],
                    undoes: undone.id)
                #expect(try await ledger.commit(entry) == .committed([]))
                // A second time changes nothing, whatever it brings along.
                let again = LedgerEntry(
                    changes: [.add(list: undone.list, viewer: undone.viewer, cell: "never", performance: "never", at: 0)], undoes: undone.id
                )
                #expect(try await ledger.commit(again) == .alreadyUndone)
            } else {
                let list = Bool.random(using: &generator) ? ViewerList.saved : .dismissed
                let viewer = Bool.random(using: &generator) ? "v" : "w"
                let cell = "cell \(Int.random(in: 0..<6, using: &generator))"
                let selection = CommandRecord(id: "\(number)", cell: cell, viewer: viewer, steps: [], expires: .max)
                let removes = Int.random(in: 0..<4, using: &generator) == 0
                let change =
                    removes
                    ? ListMutation.remove(list: list, viewer: viewer, cell: cell, performance: "\(number)", at: 0)
                    : .add(list: list, viewer: viewer, cell: cell, performance: "\(number)", at: 0)
                // One that fails half-way, because its selection's id is taken, leaves nothing.
                if let taken = standing.randomElement(using: &generator), number % 4 == 0 {
                    let failing = CommandRecord(id: taken.id, cell: cell, viewer: viewer, steps: [], expires: .max)
                    await #expect(throws: StoreError.self) { try await ledger.commit(LedgerEntry(changes: [change], selection: failing)) }
                }
                _ = try await ledger.commit(LedgerEntry(changes: [change], selection: selection))
                standing.append(("\(number)", list, viewer, cell, removes))
            }
            guard number % 10 == 9 else { continue }
            #expect(try bench.countedLists() == bench.listedCells())
            try await ledger.addUp(ledger.changedCounts(limit: 7).changes)
            #expect(try bench.countedLists() == bench.listedCells())
            let known = (0..<6).map { "cell \($0)" } + ["never"]
            for list in [ViewerList.saved, .dismissed] {
                for viewer in ["v", "w"] {
                    var expected: [String] = []
                    for performance in standing where performance.list == list && performance.viewer == viewer {
                        if performance.removes {
                            expected.removeAll { $0 == performance.cell }
                        } else if !expected.contains(performance.cell) {
                            expected.append(performance.cell)
                        }
                    }
                    #expect(try await bench.cells(list, of: viewer, limit: 2) == expected.reversed())
                    let found = try ledger.withCells(on: [list], of: viewer) { sets in
                        try known.filter { try sets[0]?.contains($0) ?? false }
                    }
                    #expect(found == known.filter(expected.contains))
                    #expect(try await ledger.contains(known[0], on: list, of: viewer) == expected.contains(known[0]))
                }
            }
        }
    }

    @Test(
        "Repeated additions are undone one by one, and one row remains after the undo window",
        arguments: LedgerKind.allCases)
    func repetition(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let clock = bench.clock
        let until = clock.now + 60_000
        for number in 0..<50 { try await bench.perform("\(number)", until: until) }
        #expect(try bench.rows() == "50|1")
        try await bench.perform("b", "b", until: until)
        #expect(try await bench.cells() == ["b", "a"])
        for number in (0..<49).shuffled() {
            #expect(try await bench.takeBack("\(number)") == .committed([]))
            #expect(try await Set(bench.cells()) == ["a", "b"])
        }
        // What stands was put there last, but before the other one.
        #expect(try await bench.cells() == ["b", "a"] && bench.rows() == "1|1")
        for number in 50..<99 { try await bench.perform("\(number)", until: until) }
        #expect(try await bench.takeBack("49") == .committed([]))
        #expect(try await bench.cells() == ["a", "b"])
        clock.advance(60_000)
        #expect(try await bench.takeBack("60") == .expired)
        try await bench.settle()
        #expect(try bench.rows() == "1|1")
        for number in 100..<150 { try await bench.perform("\(number)", until: clock.now + 60_000) }
        #expect(try bench.rows() == "1|1")
        // Its row is not needed: the cell stays for good by another one.
        #expect(try await bench.takeBack("149") == .committed([]))
        #expect(try await bench.cells() == ["a", "b"])
    }

    @Test(
        "A removal of a permanent entry can be undone, and no row remains after the undo window",
        arguments: LedgerKind.allCases)
    func removal(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let clock = bench.clock
        try await bench.perform("1", until: clock.now + 60_000)
        try await bench.perform("2", "b", until: clock.now + 60_000)
        clock.advance(60_000)
        #expect(try await bench.takeBack("1") == .expired)
        try await bench.removal("3", until: clock.now + 60_000)
        #expect(try await bench.cells() == ["b"])
        // Saved again meanwhile: the second removal alone decides, whichever of the others is taken back.
        try await bench.perform("4", until: clock.now + 60_000)
        #expect(try await bench.cells() == ["a", "b"])
        try await bench.removal("5", until: clock.now + 60_000)
        for id in ["3", "4"] { #expect(try await bench.takeBack(id) == .committed([])) }
        #expect(try await bench.cells() == ["b"])
        #expect(try await bench.takeBack("5") == .committed([]))
        #expect(try await bench.cells() == ["b", "a"])
        try await bench.removal("6", until: clock.now + 60_000)
        for number in 10..<20 { try await bench.removal("\(number)", until: clock.now + 60_000) }
        clock.advance(60_000)
        #expect(try await bench.takeBack("6") == .expired)
        try await bench.settle()
        #expect(try await bench.cells() == ["b"] && bench.rows() == "0|0")
        // What is not there leaves nothing; what cannot be taken back at all, neither.
        try await bench.removal("7", until: clock.now + 60_000)
        try await bench.removal("8", "b", until: clock.now)
        #expect(try await bench.cells().isEmpty && bench.rows() == "0|0")
    }

    @Test("Membership of single cells is found, and ids with different bytes differ", arguments: LedgerKind.allCases)
    func single(kind: LedgerKind) async throws {
        let bench = try LedgerBench(kind)
        let ledger = bench.ledger
        let cells = (0..<6_000).map { "user:\($0)" } + ["user:\u{E9}", "user:e\u{301}"]
        _ = try await ledger.commit(
            LedgerEntry(changes: cells.map { .add(list: .dismissed, viewer: "v", cell: $0, performance: $0, at: 0) }))
        let strangers = ["user:6000", "", "user:e", "user:\u{E9}\u{301}"]
        for (list, viewer, found) in [(ViewerList.dismissed, "v", cells), (.saved, "v", []), (.dismissed, "w", []), (.dismissed, "", [])] {
            let told = try ledger.withCells(on: [list], of: viewer) { sets in
                try (cells + strangers).filter { try sets[0]?.contains($0) ?? false }
            }
            #expect(told == found)
        }
        _ = try await ledger.commit(
            LedgerEntry(changes: [.add(list: .dismissed, viewer: "x", cell: cells[6_000], performance: "1", at: 0)]))
        let held = try ledger.withCells(on: [.dismissed], of: "x") { sets in try cells[5_999...].map { try sets[0]?.contains($0) ?? false }
        }
        #expect(held == [false, true, false])
    }

    @Test(
        "Membership is correct for any cells in any order, announced or not",
        arguments: LedgerKind.allCases, 0..<25)
    func anyOrder(kind: LedgerKind, seed: Int) async throws {
        let bench = try LedgerBench(kind)
        let ledger = bench.ledger
        var random = SeededRandom(seed: UInt64(seed))
        let count = [0, 1, 5, 60, 2_000][seed % 5]
        func cell() -> String {
            ["", "a", "user:", "\u{E9}"].randomElement(using: &random)! + "\(Int.random(in: 0..<max(400, count), using: &random))"
        }
        let held = Set((0..<count).map { _ in cell() })
        _ = try await ledger.commit(
            LedgerEntry(changes: held.map { .add(list: .dismissed, viewer: "v", cell: $0, performance: $0, at: 0) }))
        for order in 0..<5 {
            var asked = (0..<40).map { _ in cell() }
            if order > 0 { asked.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
            if order > 1 { asked.reverse() }
            let announced = asked.prefix(order == 3 ? 25 : 0) + [cell(), asked[0]]
            let told = try ledger.withCells(on: [.dismissed], of: "v") { sets in
                if order > 2 { try sets[0]?.prefetch(Array(announced)) }
                if order > 3 { #expect(try sets[0]?.cells(limit: 500).count ?? 0 == min(500, held.count)) }
                return try asked.map { try sets[0]?.contains($0) ?? false }
            }
            #expect(told == asked.map(held.contains))
        }
    }

    @Test("PostgreSQL reads few rows of a long list for a lookup, before it has statistics")
    func lookups() async throws {
        let bench = try LedgerBench(.postgresql)
        let cells = (0..<3_000).map { "cell \($0)" }
        _ = try await bench.ledger.commit(
            LedgerEntry(changes: cells.map { .add(list: .saved, viewer: "v", cell: $0, performance: $0, at: 0) }))
        /// A session reports what it has read when it ends.
        func rowsRead() throws -> Int {
            let others = "pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            _ = try bench.query("SELECT pg_terminate_backend(pid, 10000) FROM \(others)")
            return try #require(Int(bench.query("SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'listing'")))
        }
        let before = try rowsRead()
        #expect(try await bench.ledger.contains(cells[7], on: .saved, of: "v"))
        _ = try await bench.ledger.commit(
            LedgerEntry(changes: [.remove(list: .saved, viewer: "v", cell: cells[7], performance: "removal", at: 0)]))
        let asked = (0..<300).map { "cell \($0 * 20)" }
        let told = try bench.ledger.withCells(on: [.saved], of: "v") { sets in
            try sets[0]?.prefetch(asked)
            return try asked.map { try sets[0]?.contains($0) ?? false }
        }
        #expect(told.count { $0 } == 150)
        // The first range has 1,000 rows.
        #expect(try rowsRead() - before < 1_000 + 150 + 50)
    }
}

/// What viewers do with their lists.
extension LedgerBench {
    func cells(_ list: ViewerList = .saved, of viewer: String = "v", limit: Int = 100) async throws -> [String] {
        var cells: [ListEntry] = []
        while case let page = try await ledger.cells(on: list, of: viewer, after: cells.last?.entryID, limit: limit), !page.isEmpty {
            cells += page
        }
        return cells.map(\.cell)
    }

    func change(_ changes: ListMutation...) async throws {
        _ = try await ledger.commit(LedgerEntry(changes: changes))
    }

    func perform(_ id: String, _ cell: String = "a", until: Int64) async throws {
        _ = try await ledger.commit(
            LedgerEntry(
                changes: [.add(list: .saved, viewer: "v", cell: cell, performance: "\(id).0", at: clock.now)],
                selection: CommandRecord(id: id, cell: cell, viewer: "v", steps: [], expires: until)))
    }

    func removal(_ id: String, _ cell: String = "a", until: Int64) async throws {
        _ = try await ledger.commit(
            LedgerEntry(
                changes: [.remove(list: .saved, viewer: "v", cell: cell, performance: "\(id).0", at: clock.now)],
                selection: CommandRecord(id: id, cell: cell, viewer: "v", steps: [], expires: until)))
    }

    func takeBack(_ id: String, _ cell: String = "a") async throws -> LedgerReceipt {
        try await ledger.commit(
            LedgerEntry(changes: [.revert(list: .saved, viewer: "v", cell: cell, performance: "\(id).0")], undoes: id)
        )
    }

    /// The counts with the changes that wait, and what they should be.
    func countedLists() throws -> String {
        try query(
            """
            SELECT cell, list, sum(n) FROM (
                SELECT cell, list, count AS n FROM list_count UNION ALL SELECT cell, list, change FROM list_change) AS counted
            GROUP BY cell, list HAVING sum(n) <> 0 ORDER BY cell, list
            """)
    }

    func listedCells() throws -> String {
        try query("SELECT cell, list, count(*) FROM listing WHERE leads AND list <> 'dismissed' GROUP BY cell, list ORDER BY cell, list")
    }

    /// Rows of a cell, and those of them that lead.
    func rows(_ cell: String = "a") throws -> String {
        try query("SELECT count(*), count(*) FILTER (WHERE leads) FROM listing WHERE cell = '\(cell)'")
    }
}
