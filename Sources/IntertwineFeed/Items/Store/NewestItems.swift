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
        var known = BoundedCache<Name, [Int64]>(limit: 32 << 20) { 128 + $0.author.text.utf8.count + 8 * $1.count }
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns the positions of each author, the newest first. `read` returns them for authors that are not known.
    ///
    /// `version`: was read before the snapshot was taken.
    package func positions(
        of authors: [String], in stream: StreamID, at version: StoreVersion, read: ([String]) throws -> [ByteString: [Int64]]
    ) rethrows -> [[Int64]] {
        let names = authors.map { Name(stream: stream, author: ByteString($0)) }
        var lists = state.withLock { state -> [[Int64]?] in
            if state.version != version {
                state.version = version
                state.known.removeAll()
            }
            return names.map { state.known[$0] }
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
