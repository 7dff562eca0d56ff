import Foundation

/// A sequence of the updates of a list, each from the last received state to the current state.
///
/// ```swift
/// for try await update in list.updates() { print(update.insertions, update.deletions, update.moves) }
/// ```
///
/// One task is sufficient: the sequence loads the first page and synchronizes the list with the server while it is iterated. A slow consumer
/// gets fewer and larger updates, so that updates never queue up. The first update is from an empty list to the first state. The sequence
/// ends if its task is cancelled, and throws if the server refuses the list.
public struct FeedUpdates: AsyncSequence, Sendable {
    /// The difference between two states of the list.
    public typealias Element = FeedUpdate
    /// The error with which the server refuses the list.
    public typealias Failure = any Error

    /// The iterator of one consumer, which remembers the last received state.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let list: FeedList
        let mode: FeedList.SyncMode
        let interval: Double
        var shown = [FeedSection.empty]
        var revision = 0
        var isFirst = true
        private var synchronization: Synchronization?

        init(_ list: FeedList, _ mode: FeedList.SyncMode, _ interval: Double) {
            self.list = list
            self.mode = mode
            self.interval = interval
        }

        /// Waits for the next difference. Returns nil if the task is cancelled.
        public mutating func next() async throws -> FeedUpdate? {
            if synchronization == nil, mode != .manual { synchronization = Synchronization(list, mode, interval) }
            while let snapshot = await list.snapshot(after: revision) {
                if let failure = synchronization?.failure.withLock({ $0 }) { throw failure }
                let update = FeedUpdate(from: shown, to: snapshot.sections)
                (shown, revision) = (snapshot.sections, snapshot.revision)
                if !update.isEmpty || isFirst {
                    isFirst = false
                    return update
                }
            }
            return nil
        }
    }

    let list: FeedList
    let mode: FeedList.SyncMode
    let interval: Double

    /// Returns an iterator that begins with an empty list. Synchronization begins with the first call of `next`.
    public func makeAsyncIterator() -> Iterator { Iterator(list, mode, interval) }
}

/// The synchronization of a list on behalf of an iterator. It ends with the iterator.
private final class Synchronization: Sendable {
    let failure: LockedBox<(any Error)?>
    private let task: Task<Void, Never>

    init(_ list: FeedList, _ mode: FeedList.SyncMode, _ interval: Double) {
        let failure = LockedBox<(any Error)?>(nil)
        self.failure = failure
        task = Task {
            do {
                try await list.synchronize(mode, every: interval)
            } catch {
                failure.withLock { $0 = error }
                await list.notifyObservers()
            }
        }
    }

    deinit {
        task.cancel()
    }
}
