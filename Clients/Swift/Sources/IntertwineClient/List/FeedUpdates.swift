import Foundation

/// The updates of a list, each from what was last taken to what the list is now: whoever is slow gets fewer and larger ones, and nothing piles
/// up. The first is from nothing to all there is. It ends where its task is cancelled.
public struct FeedUpdates: AsyncSequence, Sendable {
    public typealias Element = FeedUpdate

    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let list: FeedList
        var shown: [FeedSection] = []
        var revision = -1

        public mutating func next() async -> FeedUpdate? {
            while let state = await list.state(after: revision) {
                let update = FeedUpdate(from: shown, to: state.sections)
                (shown, revision) = (state.sections, state.revision)
                if !update.isEmpty { return update }
            }
            return nil
        }
    }

    let list: FeedList

    public func makeAsyncIterator() -> Iterator { Iterator(list: list) }
}
