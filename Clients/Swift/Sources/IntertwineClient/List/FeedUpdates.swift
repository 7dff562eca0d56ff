import Foundation

/// A sequence of the updates of a list, each from the last received state to the current state.
///
/// A slow consumer gets fewer and larger updates, so that updates never queue up. The first update contains the whole list. The sequence ends
/// if its task is cancelled.
public struct FeedUpdates: AsyncSequence, Sendable {
    public typealias Element = FeedUpdate

    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let list: FeedList
        var shown: [FeedSection] = []
        var revision = -1

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
