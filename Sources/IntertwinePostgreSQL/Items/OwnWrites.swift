import Synchronization

/// Changes that this process makes by sessions other than the store's, such as an import's: the store is told of them at once, and not by a
/// notification as well.
final class OwnWrites: Sendable {
    private let changes = Atomic<UInt64>(0)
    /// What a standby has to have before items are read of it; nil where there is none.
    let seen: CommittedLSN?
    /// Sessions whose notification is yet to come.
    private let backends = Mutex<Set<Int32>>([])

    init(seen: CommittedLSN? = nil) {
        self.seen = seen
    }

    var count: UInt64 { changes.load(ordering: .acquiring) }

    /// Does what ends a transaction that has changed items.
    func commit(_ connection: PostgresConnection, _ body: () throws(PostgresError) -> Void) throws(PostgresError) {
        let backend = connection.backend
        backends.withLock { _ = $0.insert(backend) }
        do throws(PostgresError) {
            try body()
        } catch {
            backends.withLock { _ = $0.remove(backend) }
            // What became of a commit whose answer was lost is not known: it may be there.
            if error.isConnectionLost { changes.add(1, ordering: .releasing) }
            throw error
        }
        seen?.record(connection)
        changes.add(1, ordering: .releasing)
    }

    /// Whether a notification is of such a change; asked once for each.
    func isOwn(_ backend: Int32) -> Bool { backends.withLock { $0.remove(backend) != nil } }
}
