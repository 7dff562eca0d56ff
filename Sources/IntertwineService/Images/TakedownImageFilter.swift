internal import IntertwineFeed
internal import IntertwineImages
internal import IntertwineStorage
internal import Synchronization

/// A filter of the images of items that are taken down, and of ads whose campaigns are taken down. Their image URLs are refused on all pages.
///
/// The store knows the image sources of items, and the campaigns know which ads are taken down with them. ``TakedownMonitor`` reads both after
/// a change of the store. The previous result is in force until the store has responded, and if the store fails.
final class TakedownImageFilter: Sendable {
    private struct State {
        var sources: Set<String> = []
        /// The number of the read that ``sources`` comes from; a later read has a greater number.
        var number = 0
        var started = 0
        /// The current campaigns.
        var campaigns: Campaigns?
    }

    private let store: (any ItemStore)?
    private let state = Mutex(State())

    /// - Parameter store: The store with takedowns; nil if items cannot be taken down.
    init(_ store: (any ItemStore)?) {
        self.store = store
    }

    /// Replaces the campaigns, and reads the takedowns.
    ///
    /// - Throws: `StoreError`
    func serve(_ campaigns: Campaigns) async throws {
        state.withLock { $0.campaigns = campaigns }
        try await read()
    }

    /// Returns true if an image is taken down.
    ///
    /// - Parameter source: The canonical URL of the image.
    func contains(_ source: String) -> Bool { state.withLock { $0.sources.contains(source) } }

    /// Reads the takedowns.
    ///
    /// - Throws: `StoreError`; the previous result stays in force.
    func read() async throws {
        guard let store else { return }
        let (number, campaigns) = state.withLock { state in
            state.started += 1
            return (state.started, state.campaigns)
        }
        let urls = try await store.takenDownURLs() + (campaigns?.withheldURLs(in: store) ?? [])
        let found = Set(urls.compactMap { FetchURL.isPlain($0) ? $0 : (try? FetchURL($0))?.text })
        state.withLock { state in
            if number > state.number { (state.number, state.sources) = (number, found) }
        }
    }
}
