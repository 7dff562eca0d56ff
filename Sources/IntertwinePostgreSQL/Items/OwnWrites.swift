internal import IntertwineStorageCore
import Synchronization

/// A record of changes that this process makes by sessions other than the store's, such as an import's.
final class OwnWrites: Sendable {
    private let changes = Atomic<UInt64>(0)
    /// The position that a standby must have replayed before items are read from it; nil without a standby.
    let seen: CommittedLSN?
    private let backends = Mutex<Set<Int32>>([])

    init(seen: CommittedLSN? = nil) {
        self.seen = seen
    }

    var count: UInt64 { changes.load(ordering: .acquiring) }

    func commit(_ connection: PostgresConnection) throws(PostgresError) {
        let backend = connection.backend
        backends.withLock { _ = $0.insert(backend) }
        do throws(PostgresError) {
            try connection.commit()
        } catch {
            backends.withLock { _ = $0.remove(backend) }
            // The outcome of a commit is unknown if the connection was lost; it may have succeeded.
            if error.isConnectionLost { changes.add(1, ordering: .releasing) }
            throw error
        }
        seen?.record(connection)
        changes.add(1, ordering: .releasing)
    }

    func isOwn(_ backend: Int32) -> Bool { backends.withLock { $0.remove(backend) != nil } }
}
