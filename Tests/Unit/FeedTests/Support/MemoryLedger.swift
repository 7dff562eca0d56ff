import Synchronization

@testable import IntertwineFeed

/// An in-memory ledger with the guarantees of a ledger on disk, except deduplication and rates.
final class MemoryLedger: Ledger {
    private struct State {
        var events: [LedgerEvent] = []
        var selections: [String: CommandRecord] = [:]
        var answers: [String: (fingerprint: String, answer: [UInt8])] = [:]
        /// The performances that hold a cell on a list, and the commit of the first one, by list, viewer and cell.
        var lists: [[String]: (performances: Set<String>, mark: Int64)] = [:]
        /// The entries that each removal deleted, sufficient for undo in reverse order.
        var removals: [[String]: (performances: Set<String>, mark: Int64)] = [:]
        var commits = 0
        var failure: StoreError?
    }

    private let state = Mutex(State())

    var events: [LedgerEvent] { state.withLock { $0.events } }

    /// The responses that are stored under idempotency keys.
    var answers: [[UInt8]] { state.withLock { $0.answers.values.map(\.answer) } }

    var commits: Int { state.withLock { $0.commits } }

    var selectionIDs: [String] { state.withLock { Array($0.selections.keys) } }

    func fail(with error: StoreError) {
        state.withLock { $0.failure = error }
    }

    func listed(_ list: ViewerList, _ viewer: String) -> Set<String> {
        state.withLock { state in
            Set(
                state.lists.filter { $0.key[0] == list.rawValue && $0.key[1] == viewer && !$0.value.performances.isEmpty }.map { $0.key[2] }
            )
        }
    }

    func commit(_ entry: LedgerEntry) async throws -> LedgerReceipt {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            if let (key, answer) = entry.idempotency {
                if let known = state.answers[key.scope + key.key] { return Self.receipt(of: known, for: key) }
                state.answers[key.scope + key.key] = answer(entry.events.map(\.verdict)).map { (key.fingerprint, $0) }
            }
            if let id = entry.undoes {
                guard state.selections[id]?.undoneAt == nil else { return .alreadyUndone }
                state.selections[id]?.undoneAt = 1
            }
            state.commits += 1
            state.events += entry.events
            if let selection = entry.selection { state.selections[selection.id] = selection }
            for change in entry.changes {
                switch change {
                case .add(let list, let viewer, let cell, let performance, _):
                    let key = [list.rawValue, viewer, cell]
                    if state.lists[key]?.performances.isEmpty != false { state.lists[key] = ([], Int64(state.commits)) }
                    state.lists[key]?.performances.insert(performance)
                case .remove(let list, let viewer, let cell, let performance, _):
                    state.removals[[list.rawValue, viewer, cell, performance]] =
                        state.lists.updateValue(([], 0), forKey: [list.rawValue, viewer, cell])
                case .revert(let list, let viewer, let cell, let performance):
                    let removed = state.removals.removeValue(forKey: [list.rawValue, viewer, cell, performance])
                    if let removed { state.lists[[list.rawValue, viewer, cell]] = removed }
                    state.lists[[list.rawValue, viewer, cell]]?.performances.remove(performance)
                }
            }
            return .committed(entry.events.map(\.verdict))
        }
    }

    func replay(of key: IdempotencyKey) async throws -> LedgerReceipt? {
        state.withLock { state in state.answers[key.scope + key.key].map { Self.receipt(of: $0, for: key) } }
    }

    func selection(id: String) async throws -> CommandRecord? {
        state.withLock { $0.selections[id] }
    }

    func cells(on list: ViewerList, of viewer: String, after mark: Int64?, limit: Int) async throws -> [ListEntry] {
        Array(cells(on: list, of: viewer).filter { $0.entryID < mark ?? .max }.prefix(limit))
    }

    func cells(on list: ViewerList, of viewer: String, before mark: Int64, limit: Int) async throws -> [ListEntry] {
        Array(cells(on: list, of: viewer).reversed().filter { $0.entryID > mark }.prefix(limit))
    }

    func contains(_ cell: String, on list: ViewerList, of viewer: String) async throws -> Bool {
        listed(list, viewer).contains(cell)
    }

    func withCells<Value>(on lists: [ViewerList], of viewer: String, _ body: ([(any CellSet)?]) throws -> Value) throws -> Value {
        try body(lists.map { list in HiddenSet(Set(listed(list, viewer).map { ByteString($0) })) })
    }

    private func cells(on list: ViewerList, of viewer: String) -> [ListEntry] {
        let all = state.withLock { state in
            state.lists.filter { $0.key[0] == list.rawValue && $0.key[1] == viewer && !$0.value.performances.isEmpty }
                .map { ListEntry(cell: $0.key[2], entryID: $0.value.mark) }
        }
        return all.sorted { $0.entryID > $1.entryID }
    }

    private static func receipt(of known: (fingerprint: String, answer: [UInt8]), for key: IdempotencyKey) -> LedgerReceipt {
        known.fingerprint == key.fingerprint ? .replayed(known.answer) : .keyReused
    }
}
