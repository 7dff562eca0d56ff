internal import IntertwineAds
internal import IntertwineFetch
internal import IntertwineStorage
internal import Synchronization

/// A filter of the images of items that are taken down, and of ads whose campaigns are taken down. Their image URLs are refused on all pages.
///
/// The store knows the image sources of items, and the campaigns know which ads are taken down with them. ``TakedownMonitor`` reads both after
/// a change of the store. The previous result is in force until the store has responded, and if the store fails.
final class TakedownImageFilter: Sendable {
    typealias TakenDown = (number: Int, sources: Set<String>)

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

    /// Replaces the campaigns.
    ///
    /// - Parameter found: The result of ``sources(with:)`` for them.
    func serve(_ campaigns: Campaigns, _ found: TakenDown) {
        state.withLock { state in
            state.campaigns = campaigns
            // The result of a later read for the previous campaigns lacks the ads of these ones.
            if found.number < state.number { state.sources.formUnion(found.sources) } else { (state.number, state.sources) = found }
        }
    }

    /// Returns true if an image is taken down.
    ///
    /// - Parameter source: The canonical URL of the image.
    func contains(_ source: String) -> Bool { state.withLock { $0.sources.contains(source) } }

    /// Reads the takedowns.
    ///
    /// - Throws: `StoreError`; the previous result stays in force.
    func read() async throws {
        while true {
            let campaigns = state.withLock { $0.campaigns }
            let found = try await sources(with: campaigns)
            let isCurrent = state.withLock { state in
                guard state.campaigns === campaigns else { return false }
                if found.number > state.number { (state.number, state.sources) = found }
                return true
            }
            if isCurrent { return }
        }
    }

    /// Reads the images that are taken down with the given campaigns. It changes nothing.
    func sources(with campaigns: Campaigns?) async throws -> TakenDown {
        let number = state.withLock { state in
            state.started += 1
            return state.started
        }
        guard let store else { return (number, []) }
        let urls = try await store.takenDownURLs() + (campaigns?.withheldURLs(in: store) ?? [])
        return (number, Set(urls.compactMap { FetchURL.isPlain($0) ? $0 : (try? FetchURL($0))?.text }))
    }
}
