import Dispatch
internal import IntertwineFeed
import Synchronization

/// A queue that writes batches of items on a separate thread, while the caller reads further ones.
/// On two cores, an import therefore takes as long as SQLite alone.
/// `@unchecked Sendable`: the destination is accessed on the serial queue alone.
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

    func put(_ batch: [ValidatedItem]) throws {
        try check()
        permits.wait()
        queue.async { [self] in
            write(batch)
            permits.signal()
        }
    }

    var counts: ImportCounts {
        state.withLock { $0.counts }
    }

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

    func rollback() {
        queue.sync { destination.rollback() }
    }

    private func check() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func write(_ batch: [ValidatedItem]) {
        attempt { try destination.write(batch) }
    }

    /// Runs a step, unless an earlier one failed, and adds the counts that it returns.
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
