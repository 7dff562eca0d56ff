internal import IntertwinePrimitives
internal import Synchronization

/// A cache of the positions of each author's newest items, for one version of the store.
/// Why: a look at an author's items in the index costs as much as a tenth of a page, and a viewer follows many authors.
package final class NewestItems: Sendable {
    /// The number of positions of one author. An author with fewer has no other items.
    package static let count = 16

    private struct Name: Hashable {
        var stream: StreamID
        var author: ByteString
    }

    private struct State {
        var version: StoreVersion?
        var known = NewestItems.empty
    }

    private static var empty: BoundedCache<Name, [Int64]> {
        BoundedCache(limit: limit) { 128 + $0.author.text.utf8.count + 8 * $1.count }
    }

    /// Bytes.
    package static let limit = 32 << 20

    private let state = Mutex(State())

    package init() {}

    package var usage: (entries: Int, bytes: Int) { state.withLock { ($0.known.count, $0.known.cost) } }

    /// Returns the positions of each author, the newest first. `read` returns them for authors that are not known.
    ///
    /// `version`: was read before the snapshot was taken.
    package func positions(
        of authors: [String], in stream: StreamID, at version: StoreVersion, read: ([String]) throws -> [ByteString: [Int64]]
    ) rethrows -> [[Int64]] {
        let names = authors.map { Name(stream: stream, author: ByteString($0)) }
        // The old lists, perhaps a hundred thousand, are freed outside the lock.
        var (lists, _) = state.withLock { state -> ([[Int64]?], BoundedCache<Name, [Int64]>?) in
            guard state.version != version else { return (names.map { state.known[$0] }, nil) }
            let old = state.known
            (state.version, state.known) = (version, Self.empty)
            return (names.map { _ in nil }, old)
        }
        let missing = lists.indices.filter { lists[$0] == nil }
        guard !missing.isEmpty else { return lists.compactMap(\.self) }
        let found = try read(missing.map { authors[$0] })
        for index in missing { lists[index] = found[names[index].author] ?? [] }
        state.withLock { state in
            guard state.version == version else { return }
            for index in missing { state.known[names[index]] = lists[index] }
        }
        return lists.compactMap(\.self)
    }
}
