internal import Dispatch
internal import Foundation
public import IntertwineLedger

extension Conformance {
    /// Checks a ledger, which may contain data. The check commits about a hundred entries of cells and a viewer that no other program names.
    ///
    /// ```swift
    /// try await Conformance.check(try SQLiteLedger(path: "ledger.sqlite"))
    /// ```
    ///
    /// - Parameter now: The current time of the ledger in milliseconds since 1970-01-01 UTC; nil for the machine's time.
    /// - Throws: ``ConformanceError``, or the error of a commit.
    public static func check(_ ledger: some Ledger, now: Int64? = nil) async throws {
        let now = now ?? Int64(Date.now.timeIntervalSince1970 * 1_000)
        let checks = LedgerChecks(ledger: ledger, now: now, name: "conformance-\(UInt64.random(in: .min ... .max))")
        var violations = Violations()
        try await ledger.checkReady()
        try await checks.events(&violations)
        try await checks.lists(&violations)
        try await checks.undo(&violations)
        try await checks.idempotency(&violations)
        try violations.finish()
    }
}

private struct LedgerChecks<Checked: Ledger> {
    let ledger: Checked
    let now: Int64
    /// The name of the viewer, and the prefix of all other names.
    let name: String

    private var list: ViewerList { ViewerList(rawValue: "conformance") }

    private func click(deduplication: LedgerEvent.Deduplication? = nil, rates: [LedgerEvent.RateLimit] = []) -> LedgerEvent {
        var event = LedgerEvent(at: now, kind: .click, cell: "\(name):cell")
        event.deduplication = deduplication
        event.rates = rates
        return event
    }

    func events(_ violations: inout Violations) async throws {
        let two = try await ledger.commit(LedgerEntry(events: [click(), click()]))
        violations.require(two == .committed([.counted, .counted]), "A receipt has one verdict for each event.")
        let deduplicated = click(deduplication: LedgerEvent.Deduplication(key: "\(name):key", window: 60_000))
        let first = try await ledger.commit(LedgerEntry(events: [deduplicated]))
        let second = try await ledger.commit(LedgerEntry(events: [deduplicated]))
        violations.require(first.verdicts == [.counted] && second.verdicts == [.duplicate], "A second event with a key is a duplicate.")
        let limited = click(rates: [LedgerEvent.RateLimit(key: "\(name):rate", limit: 1, window: 60_000)])
        let allowed = try await ledger.commit(LedgerEntry(events: [limited]))
        let refused = try await ledger.commit(LedgerEntry(events: [limited]))
        violations.require(allowed.verdicts == [.counted] && refused.verdicts == [.limited], "Events beyond a rate are limited.")
    }

    func lists(_ violations: inout Violations) async throws {
        func add(_ cell: String, _ performance: String) async throws {
            let change = ListMutation.add(list: list, viewer: name, cell: cell, performance: "\(name):\(performance)", at: now)
            _ = try await ledger.commit(LedgerEntry(changes: [change]))
        }
        func revert(_ cell: String, _ performance: String) async throws {
            let change = ListMutation.revert(list: list, viewer: name, cell: cell, performance: "\(name):\(performance)")
            _ = try await ledger.commit(LedgerEntry(changes: [change]))
        }
        func cells() async throws -> [String] { try await ledger.cells(on: list, of: name, after: nil, limit: 100).map(\.cell) }

        violations.require(try await cells().isEmpty, "A list without changes is empty.")
        for cell in ["a", "b", "c"] { try await add(cell, cell) }
        violations.require(try await cells() == ["c", "b", "a"], "A list has its newest cell first.")
        var (paged, mark): ([ListEntry], Int64?) = ([], nil)
        while paged.count < 10, let next = try await ledger.cells(on: list, of: name, after: mark, limit: 1).first {
            paged.append(next)
            mark = next.entryID
        }
        violations.require(paged.map(\.cell) == ["c", "b", "a"], "Pages of a list are the list.")
        if let oldest = paged.last {
            let before = try await ledger.cells(on: list, of: name, before: oldest.entryID, limit: 2).map(\.cell)
            violations.require(before == ["b", "c"], "Cells before a position begin with the nearest one.")
        }
        let contained = try await ledger.contains("a", on: list, of: name)
        let missing = try await ledger.contains("z", on: list, of: name)
        let foreign = try await ledger.contains("a", on: list, of: name + "2")
        violations.require(contained && !missing && !foreign, "A list contains the added cells of its viewer, and no others.")
        let sets = try await sets(["a", "z"])
        violations.require(sets == [[false, false], [true, false]], "withCells has one set for each list, in their order.")

        try await add("a", "a2")
        violations.require(try await cells() == ["c", "b", "a"], "A cell that is added again keeps its position.")
        try await revert("a", "a2")
        violations.require(try await cells() == ["c", "b", "a"], "A cell stays on a list until all its additions are undone.")
        // A removal can be undone as long as its selection can.
        let removal = ListMutation.remove(list: list, viewer: name, cell: "b", performance: "\(name):removal.0", at: now)
        let selection = CommandRecord(id: "\(name):removal", cell: "b", viewer: name, steps: [], expires: now + 600_000)
        _ = try await ledger.commit(LedgerEntry(changes: [removal], selection: selection))
        violations.require(try await cells() == ["c", "a"], "A removed cell is not on the list.")
        try await revert("b", "removal.0")
        violations.require(try await cells() == ["c", "b", "a"], "The undo of a removal returns the cell to its position.")
        for cell in ["a", "b", "c"] { try await revert(cell, cell) }
        violations.require(try await cells().isEmpty, "The undo of all additions leaves an empty list.")
    }

    /// Looks cells up on a list without cells and on the list of the check, on a thread that may block.
    private func sets(_ cells: [String]) async throws -> [[Bool]] {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "conformance").async { [ledger, list, name] in
                continuation.resume(
                    with: Result {
                        try ledger.withCells(on: [ViewerList(rawValue: "conformance-empty"), list], of: name) { sets in
                            try sets.map { set in try cells.map { try set?.contains($0) ?? false } }
                        }
                    })
            }
        }
    }

    func undo(_ violations: inout Violations) async throws {
        func record(_ id: String, expires: Int64) -> CommandRecord {
            CommandRecord(
                id: "\(name):\(id)", cell: "a", viewer: name,
                steps: [.init(command: "like", undo: [1, 2]), .init(command: "log", undo: nil)],
                expires: expires)
        }
        let (current, late) = (record("current", expires: now + 600_000), record("late", expires: now - 600_000))
        for each in [current, late] { _ = try await ledger.commit(LedgerEntry(selection: each)) }
        violations.require(try await ledger.selection(id: current.id) == current, "A stored selection can be read.")
        violations.require(try await ledger.selection(id: "\(name):missing") == nil, "A selection that was not stored is nil.")
        let first = try await ledger.commit(LedgerEntry(undoes: current.id))
        let second = try await ledger.commit(LedgerEntry(undoes: current.id))
        violations.require(first == .committed([]) && second == .alreadyUndone, "A selection is undone once.")
        violations.require(
            try await ledger.selection(id: current.id)?.undoneAt != nil, "A selection that was undone has the time of its undo.")
        violations.require(try await ledger.commit(LedgerEntry(undoes: late.id)) == .expired, "A selection is not undone after its window.")
    }

    func idempotency(_ violations: inout Violations) async throws {
        func entry(_ key: String, _ fingerprint: String = "one", answer: [UInt8]? = [1, 2, 3]) -> LedgerEntry {
            let key = IdempotencyKey(scope: name, key: "\(name):\(key)", fingerprint: fingerprint, expires: now + 600_000)
            return LedgerEntry(events: [click()], idempotency: (key, { _ in answer }))
        }
        guard let key = entry("a").idempotency?.key else { return }
        violations.require(try await ledger.replay(of: key) == nil, "An unused key has no response.")
        violations.require(try await ledger.commit(entry("a")) == .committed([.counted]), "An unused key is consumed.")
        violations.require(try await ledger.commit(entry("a")) == .replayed([1, 2, 3]), "A used key returns its stored response.")
        violations.require(try await ledger.replay(of: key) == .replayed([1, 2, 3]), "replay(of:) returns the stored response.")
        violations.require(try await ledger.commit(entry("a", "two")) == .keyReused, "A key is used for one request only.")
        for _ in 0..<2 {
            let receipt = try await ledger.commit(entry("b", answer: nil))
            violations.require(receipt == .committed([.counted]), "A key without a response is not consumed.")
        }
        let receipts = try await withThrowingTaskGroup(of: LedgerReceipt.self) { group in
            for _ in 0..<50 {
                let entry = entry("c")
                group.addTask { [ledger] in try await ledger.commit(entry) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        violations.require(
            receipts.filter { $0 == .committed([.counted]) }.count == 1 && receipts.filter { $0 == .replayed([1, 2, 3]) }.count == 49,
            "Of concurrent commits with a key, one is committed.")
    }
}
