/// The append-only record of selections, clicks and impressions, and of the viewer state derived from them. The storage module implements it.
///
/// ```swift
/// let event = LedgerEvent(at: 1_750_000_000_000, kind: .click, cell: "ad:1")
/// let receipt = try await ledger.commit(LedgerEntry(events: [event]))
/// guard receipt.verdicts == [.counted] else { return }
/// ```
package protocol Ledger: Sendable {
    /// Commits one entry atomically.
    ///
    /// It returns after the entry is durable on disk. Entries that wait at one time share one transaction (group commit).
    /// - Throws: `StoreError`. If it throws, nothing of the entry is stored.
    func commit(_ entry: LedgerEntry) async throws -> LedgerReceipt

    /// Commits one entry atomically and calls a completion, for callers without a task.
    ///
    /// ```swift
    /// ledger.commit(LedgerEntry(events: [event])) { result in
    ///     if case .failure(let error) = result { logger.error("\(error)") }
    /// }
    /// ```
    ///
    /// - Parameter completion: called once, on any thread; it must not block that thread.
    func commit(_ entry: LedgerEntry, completion: @escaping @Sendable (Result<LedgerReceipt, any Error>) -> Void)

    /// Returns the response stored under an idempotency key that has not expired, or nil.
    ///
    /// ```swift
    /// if case .replayed(let response)? = try await ledger.replay(of: key) {
    ///     print(response.count)
    /// }
    /// ```
    func replay(of key: IdempotencyKey) async throws -> LedgerReceipt?

    /// Returns the selection with an id, even if it cannot be undone any more, or nil if no such selection existed.
    ///
    /// ```swift
    /// guard let selection = try await ledger.selection(id: "p1"), selection.undoneAt == nil else { return }
    /// selection.steps.map(\.command)  // ["analytics", "present"]
    /// ```
    func selection(id: String) async throws -> CommandRecord?

    /// Returns cells on one of a viewer's lists, newest first, after the position `mark` of an earlier result.
    ///
    /// The position of a cell is that of its oldest addition that was not undone. A cell that is added again keeps its position, so
    /// pagination returns each cell once.
    ///
    /// ```swift
    /// let first = try await ledger.cells(on: .saved, of: "ann", after: nil, limit: 20)
    /// let second = try await ledger.cells(on: .saved, of: "ann", after: first.last?.entryID, limit: 20)
    /// ```
    func cells(on list: ViewerList, of viewer: String, after mark: Int64?, limit: Int) async throws -> [ListEntry]

    /// Returns cells before the position `mark` of an earlier result, in ascending order, so that the nearest and oldest cell is first.
    ///
    /// ```swift
    /// guard let mark = page.first?.entryID else { return }
    /// let previous = try await ledger.cells(on: .saved, of: "ann", before: mark, limit: 20)
    /// ```
    func cells(on list: ViewerList, of viewer: String, before mark: Int64, limit: Int) async throws -> [ListEntry]

    /// Returns true if a cell is on one of a viewer's lists.
    ///
    /// ```swift
    /// let isSaved = try await ledger.contains("user:1", on: .saved, of: "ann")
    /// ```
    func contains(_ cell: String, on list: ViewerList, of viewer: String) async throws -> Bool

    /// Looks up cells on some of a viewer's lists, all from one snapshot. The cost depends on the number of lookups, not on the length of the
    /// lists.
    ///
    /// The method blocks while `body` runs, so it must be called on a thread that may block.
    ///
    /// ```swift
    /// let isSaved = try ledger.withCells(on: [.saved], of: "ann") { sets in
    ///     try sets[0]?.contains("user:1") ?? false
    /// }
    /// ```
    ///
    /// - Parameter body: receives one set per list, in the order of `lists`. A set is nil if the list is known to be empty.
    /// - Throws: `StoreError.unavailable(_:)` or the error of `body`.
    func withCells<Value>(on lists: [ViewerList], of viewer: String, _ body: ([(any CellSet)?]) throws -> Value) throws -> Value

    /// Checks that a click can be written, as `/readyz` requires.
    ///
    /// - Throws: `StoreError.unavailable(_:)` if no write is possible: the disk is full, another process locks the file, or the file is missing.
    func checkReady() async throws
}

extension Ledger {
    /// Checks that a selection can be read. A ledger that can check a write overrides it.
    ///
    /// - Throws: The error of ``Ledger/selection(id:)``.
    package func checkReady() async throws {
        _ = try await selection(id: "")
    }

    /// Commits one entry in a new task and calls the completion with the result.
    package func commit(_ entry: LedgerEntry, completion: @escaping @Sendable (Result<LedgerReceipt, any Error>) -> Void) {
        Task {
            do { completion(.success(try await commit(entry))) } catch { completion(.failure(error)) }
        }
    }
}
