/// The append-only record of selections, clicks and impressions, and of the viewer state derived from them.
package protocol Ledger: Sendable {
    func commit(_ entry: LedgerEntry) async throws -> LedgerReceipt

    /// `completion`: called once, on any thread; it must not block that thread.
    func commit(_ entry: LedgerEntry, completion: @escaping @Sendable (Result<LedgerReceipt, any Error>) -> Void)

    func replay(of key: IdempotencyKey) async throws -> LedgerReceipt?

    /// Returns the selection with an id, even if it cannot be undone any more, or nil if no such selection existed.
    func selection(id: String) async throws -> CommandRecord?

    func cells(on list: ViewerList, of viewer: String, after mark: Int64?, limit: Int) async throws -> [ListEntry]

    /// Returns cells before the position `mark` of an earlier result, in ascending order, so that the nearest and oldest cell is first.
    func cells(on list: ViewerList, of viewer: String, before mark: Int64, limit: Int) async throws -> [ListEntry]

    func contains(_ cell: String, on list: ViewerList, of viewer: String) async throws -> Bool

    /// The method blocks while `body` runs, so it must be called on a thread that may block.
    func withCells<Value>(on lists: [ViewerList], of viewer: String, _ body: ([(any CellSet)?]) throws -> Value) throws -> Value

    func checkReady() async throws
}

extension Ledger {
    package func checkReady() async throws {
        _ = try await selection(id: "")
    }

    package func commit(_ entry: LedgerEntry, completion: @escaping @Sendable (Result<LedgerReceipt, any Error>) -> Void) {
        Task {
            do { completion(.success(try await commit(entry))) } catch { completion(.failure(error)) }
        }
    }
}
