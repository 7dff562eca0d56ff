internal import IntertwineAds
internal import IntertwineFetch
internal import IntertwineStorage
internal import Synchronization

/// A filter of the images of items that are taken down, and of ads whose campaigns are taken down. Their image URLs are refused on all pages.
///
/// The store knows the image sources of items, and the campaigns know which ads are taken down with them. ``TakedownMonitor`` reads both after
/// a change of the store. The previous result is in force until the store has responded, and if the store fails.
final class TakedownImageFilter: Sendable {
    private struct State {
        /// The images of items that are taken down, and the version of the takedowns.
        var items: (sources: Set<String>, version: TakedownVersion?) = ([], nil)
        /// The images of ads whose campaigns are taken down.
        var ads: Set<String> = []
        /// The number of the read that the images come from; a later read has a greater number.
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
    func contains(_ source: String) -> Bool { state.withLock { $0.items.sources.contains(source) || $0.ads.contains(source) } }

    /// Reads the takedowns. Their images are read only if the takedowns have changed, because there may be hundreds of thousands.
    ///
    /// - Returns: the version of the takedowns; nil without a store.
    /// - Throws: `StoreError`; the previous result stays in force.
    @discardableResult
    func read() async throws -> TakedownVersion? {
        guard let store else { return nil }
        let (number, campaigns, known) = state.withLock { state in
            state.started += 1
            return (state.started, state.campaigns, state.items)
        }
        // The version is read first, so that later takedowns are found the next time.
        let version = try await store.takedownVersion()
        let items = known.version == version ? known : (Self.sources(try await store.takenDownURLs()), version)
        let ads = Self.sources(try await campaigns?.withheldURLs(in: store) ?? [])
        state.withLock { state in
            if number > state.number { (state.number, state.items, state.ads) = (number, items, ads) }
        }
        return version
    }

    /// Returns the canonical URLs of images.
    private static func sources(_ urls: [String]) -> Set<String> {
        Set(urls.compactMap { FetchURL.isPlain($0) ? $0 : (try? FetchURL($0))?.text })
    }
}
