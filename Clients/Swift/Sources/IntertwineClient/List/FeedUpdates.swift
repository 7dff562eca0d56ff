import Foundation

/// A sequence of the updates of a list, each from the last received state to the current state.
///
///     for await update in list.updates { await apply(update) }
///
/// A slow consumer gets fewer and larger updates, so that updates never queue up. The first update contains the whole list. The sequence ends
/// if its task is cancelled.
public struct FeedUpdates: AsyncSequence, Sendable {
    public typealias Element = FeedUpdate

    /// The iterator of one consumer, which remembers the last received state.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let list: FeedList
        var shown: [FeedSection] = []
        var revision = -1

        /// Waits for the next difference. Returns nil if the task is cancelled.
        public mutating func next() async -> FeedUpdate? {
            while let snapshot = await list.snapshot(after: revision) {
                let update = FeedUpdate(from: shown, to: snapshot.sections)
                (shown, revision) = (snapshot.sections, snapshot.revision)
                if !update.isEmpty { return update }
            }
            return nil
        }
    }

    let list: FeedList

    public func makeAsyncIterator() -> Iterator { Iterator(list: list) }
}
