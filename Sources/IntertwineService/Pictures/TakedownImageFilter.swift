internal import IntertwineFeed
internal import IntertwineFetch
internal import IntertwineStorage
internal import Synchronization

/// The pictures of items that are taken down, and of advertisements whose campaigns are: they are gone with them, from whatever page their URLs
/// were taken.
///
/// What the items' fields led to is known to the store, and which advertisements are gone with their campaigns to those. ``TakedownMonitor`` has
/// them read when the store has changed. Until the store has answered, and if it does not, what it said before holds.
final class TakedownImageFilter: Sendable {
    private struct State {
        var sources: Set<String> = []
        /// Of the reading that ``sources`` comes from; a later reading has a greater number.
        var number = 0
        var begun = 0
        /// Those in force.
        var campaigns: Campaigns?
    }

    private let store: (any ItemStore)?
    private let state = Mutex(State())

    /// - Parameter store: whose items may be taken down; nil if none can be.
    init(_ store: (any ItemStore)?) {
        self.store = store
    }

    /// Asks these campaigns from now on, and reads what is taken down.
    ///
    /// - Throws: `StoreError`
    func serve(_ campaigns: Campaigns) async throws {
        state.withLock { $0.campaigns = campaigns }
        try await read()
    }

    /// Whether a picture is gone.
    ///
    /// - Parameter source: in the one way in which pictures are known.
    func contains(_ source: String) -> Bool { state.withLock { $0.sources.contains(source) } }

    /// Reads what is taken down.
    ///
    /// - Throws: `StoreError`; what was read before holds.
    func read() async throws {
        guard let store else { return }
        let (number, campaigns) = state.withLock { state in
            state.begun += 1
            return (state.begun, state.campaigns)
        }
        let urls = try await store.takenDownURLs() + (campaigns?.withheldURLs(in: store) ?? [])
        let found = Set(urls.compactMap { FetchURL.isPlain($0) ? $0 : (try? FetchURL($0))?.text })
        state.withLock { state in
            if number > state.number { (state.number, state.sources) = (number, found) }
        }
    }
}
