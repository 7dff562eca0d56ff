import Dispatch
import IntertwineFeed
import Synchronization

/// Writes batches of items on a thread of its own, while the caller reads the next ones: on two cores an import is then as slow as
/// SQLite alone. At most four batches wait.
///
/// `@unchecked Sendable`: the destination is touched on the serial queue alone.
final class ImportQueue: @unchecked Sendable {
    private struct State {
        var counts = ImportCounts()
        var failure: (any Error)?
    }

    private var destination: any ImportDestination
    private let queue = DispatchQueue(label: "intertwine.import")
    private let permits = DispatchSemaphore(value: 4)
    private let state = Mutex(State())

    init(_ destination: any ImportDestination) {
        self.destination = destination
    }

    /// Blocks while too many batches wait. Throws what an earlier batch failed with.
    func put(_ batch: [ValidatedItem]) throws {
        try check()
        permits.wait()
        queue.async { [self] in
            write(batch)
            permits.signal()
        }
    }

    /// What has been written so far.
    var counts: ImportCounts {
        state.withLock { $0.counts }
    }

    /// Waits until all is written and settled, and looks which items are there.
    func find(_ keys: [ItemKey]) throws -> FoundItems {
        let found = Mutex(FoundItems())
        queue.sync {
            attempt { try destination.finish() }
            attempt {
                let items = try destination.find(keys)
                found.withLock { $0 = items }
                return ImportCounts()
            }
        }
        try check()
        return found.withLock { $0 }
    }

    /// Waits until all is written, and makes it visible, on the caller's thread. Throws what a batch or the commit failed with.
    ///
    /// - Parameter committing: called when nothing else is left to be done.
    func commit(_ committing: () -> Void) throws {
        queue.sync {
            attempt { try destination.finish() }
            attempt {
                committing()
                return try destination.commit()
            }
        }
        try check()
    }

    /// Waits for what is under way, and takes everything back.
    func rollback() {
        queue.sync { destination.rollback() }
    }

    private func check() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func write(_ batch: [ValidatedItem]) {
        attempt { try destination.write(batch) }
    }

    /// Runs a step, unless an earlier one failed; it answers by how much the counts change.
    private func attempt(_ step: () throws -> ImportCounts) {
        guard state.withLock({ $0.failure == nil }) else { return }
        do {
            let change = try step()
            state.withLock { $0.counts += change }
        } catch {
            state.withLock { $0.failure = error }
        }
    }
}
