import Dispatch
import Feed
import GRDB
import Synchronization

/// Writes batches of items on a thread of its own, while the caller reads the next ones: on two cores an import is then as slow as
/// SQLite alone. At most four batches wait.
///
/// `@unchecked Sendable`: the writer is touched on the serial queue alone, by blocks that end before ``finish()`` returns.
final class ImportQueue: @unchecked Sendable {
    private struct State {
        var added = 0
        var replaced = 0
        var failure: (any Error)?
    }

    private let pool: DatabasePool
    private var writer: ItemWriter
    private let queue = DispatchQueue(label: "intertwine.import")
    private let places = DispatchSemaphore(value: 4)
    private let state = Mutex(State())

    /// Begins the transaction.
    init(_ pool: DatabasePool) throws {
        self.pool = pool
        writer = try pool.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            return try ItemWriter(database)
        }
    }

    /// Blocks while too many batches wait. Throws what an earlier batch failed with.
    func put(_ batch: [ValidItem]) throws {
        try check()
        places.wait()
        queue.async { [self] in
            write(batch)
            places.signal()
        }
    }

    /// What has been written so far.
    var counts: (added: Int, replaced: Int) {
        state.withLock { ($0.added, $0.replaced) }
    }

    /// Waits until all is written. Throws what a batch failed with.
    func finish() throws {
        queue.sync {}
        try check()
    }

    private func check() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func write(_ batch: [ValidItem]) {
        guard state.withLock({ $0.failure == nil }) else { return }
        var added = 0
        do {
            try pool.writeWithoutTransaction { _ in
                for item in batch where try writer.put(item) == .added { added += 1 }
            }
            state.withLock {
                $0.added += added
                $0.replaced += batch.count - added
            }
        } catch {
            state.withLock { $0.failure = error }
        }
    }
}
