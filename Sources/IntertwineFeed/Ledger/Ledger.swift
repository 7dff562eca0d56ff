/// The append-only record of what was selected, clicked and seen, and the viewers' state that follows from it. Implemented in Storage.
public protocol Ledger: Sendable {
    /// Commits one unit of work: all of it or nothing.
    ///
    /// Returns only after the disk has it. Units that wait at the same moment share one transaction (group commit).
    /// - Throws: ``StoreError``; nothing of the unit is kept then.
    func commit(_ entry: LedgerEntry) async throws -> LedgerReceipt

    /// The same for those who have no task to wait in.
    ///
    /// - Parameter completion: called once, on whatever thread it happens to be: it must not hold that up.
    func commit(_ entry: LedgerEntry, completion: @escaping @Sendable (Result<LedgerReceipt, any Error>) -> Void)

    /// The answer stored under an idempotency key that is still valid, or nil.
    func replay(of key: IdempotencyKey) async throws -> LedgerReceipt?

    /// A selection that can be, or could have been, undone; nil where there never was one of that id.
    func selection(id: String) async throws -> CommandRecord?

    /// The cells on one of a viewer's lists, newest first, beginning after a mark taken from an earlier answer.
    ///
    /// A cell stands where the oldest of its performances put it that has not been taken back: one that is put on the list again stays in
    /// its place, and a walk along the list meets each cell once.
    func cells(on list: ViewerList, of viewer: String, after mark: Int64?, limit: Int) async throws -> [ListEntry]

    /// The cells before a mark, the nearest, and so the oldest of them, first.
    func cells(on list: ViewerList, of viewer: String, before mark: Int64, limit: Int) async throws -> [ListEntry]

    /// Whether a cell is on one of a viewer's lists.
    func contains(_ cell: String, on list: ViewerList, of viewer: String) async throws -> Bool

    /// Has some of a viewer's lists asked of one cell after another, all as of one moment. The cost depends on how many are asked of, not
    /// on how long the lists are.
    ///
    /// It blocks, for as long as `body` runs: to be called on threads that may be blocked.
    /// - Parameter body: is given a set for each of the lists, in their order; nil for one that is known to hold nothing.
    /// - Throws: ``StoreError/unavailable(_:)``, or what `body` throws.
    func withCells<Value>(on lists: [ViewerList], of viewer: String, _ body: ([(any CellSet)?]) throws -> Value) throws -> Value

    /// Whether a click can be written, as `/readyz` asks.
    ///
    /// - Throws: ``StoreError/unavailable(_:)`` where it cannot: the disk is full, another process keeps the file locked, the file is gone.
    func checkReady() async throws
}

extension Ledger {
    public func checkReady() async throws {
        _ = try await selection(id: "")
    }

    public func commit(_ entry: LedgerEntry, completion: @escaping @Sendable (Result<LedgerReceipt, any Error>) -> Void) {
        Task {
            do { completion(.success(try await commit(entry))) } catch { completion(.failure(error)) }
        }
    }
}
