internal import IntertwineFeed
internal import IntertwineImages
internal import IntertwineStorage
internal import Synchronization

/// A filter of the images of items that are taken down, and of ads whose campaigns are taken down. Their image URLs are refused on all pages.
///
/// The store knows the image sources of items, and the campaigns know which ads are taken down with them. ``TakedownMonitor`` reads both after
/// a change of the store. The previous result is in force until the store has responded, and if the store fails.
final class TakedownImageFilter: Sendable {
    /// The result of a read.
    struct TakenDown {
        /// A later read has a greater number.
        var number = 0
        /// The images of items, and the version of the takedowns that they belong to.
        var items: (sources: Set<String>, version: TakedownVersion?) = ([], nil)
        /// The images of ads whose campaigns are taken down.
        var ads: Set<String> = []
    }

    private struct State {
        var found = TakenDown()
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
    /// - Parameter found: The result of ``read(with:)`` for them.
    func serve(_ campaigns: Campaigns, _ found: TakenDown) {
        state.withLock { state in
            state.campaigns = campaigns
            // The result of a later read for the previous campaigns lacks the ads of these ones.
            if found.number < state.found.number { state.found.ads.formUnion(found.ads) } else { state.found = found }
        }
    }

    /// Returns true if an image is taken down.
    ///
    /// - Parameter source: The canonical URL of the image.
    func contains(_ source: String) -> Bool { state.withLock { $0.found.items.sources.contains(source) || $0.found.ads.contains(source) } }

    /// Reads the takedowns.
    ///
    /// - Returns: The version of the takedowns; nil without a store.
    /// - Throws: `StoreError`; the previous result stays in force.
    @discardableResult
    func read() async throws -> TakedownVersion? {
        while true {
            let campaigns = state.withLock { $0.campaigns }
            let found = try await read(with: campaigns)
            let isCurrent = state.withLock { state in
                guard state.campaigns === campaigns else { return false }
                if found.number > state.found.number { state.found = found }
                return true
            }
            if isCurrent { return found.items.version }
        }
    }

    /// Reads the images that are taken down with the given campaigns. It changes nothing.
    ///
    /// The images of items are read only if the takedowns have changed, because there may be hundreds of thousands.
    func read(with campaigns: Campaigns?) async throws -> TakenDown {
        var found = state.withLock { state in
            state.started += 1
            return TakenDown(number: state.started, items: state.found.items)
        }
        guard let store else { return found }
        // The version is read first, so that later takedowns are found the next time.
        let version = try await store.takedownVersion()
        if found.items.version != version { found.items = (Self.sources(try await store.takenDownURLs()), version) }
        found.ads = Self.sources(try await campaigns?.withheldURLs(in: store) ?? [])
        return found
    }

    /// Returns the canonical URLs of images.
    private static func sources(_ urls: [String]) -> Set<String> {
        Set(urls.compactMap { FetchURL.isPlain($0) ? $0 : (try? FetchURL($0))?.text })
    }
}
