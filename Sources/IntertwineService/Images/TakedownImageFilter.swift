internal import IntertwineFeed
internal import IntertwineImages
internal import IntertwineStorage
internal import Synchronization

/// A filter of the images of items that are taken down or not public, and of ads whose campaigns are taken down.
final class TakedownImageFilter: Sendable {
    struct TakenDown {
        var number = 0
        var items: (sources: Set<String>, version: TakedownVersion?) = ([], nil)
        var ads: Set<String> = []
    }

    private struct State {
        var found = TakenDown()
        var started = 0
        var campaigns: Campaigns?
        var hidden = HiddenItems()
        var hiddenSources: Set<String> = []
    }

    private let store: (any ItemStore)?
    private let state = Mutex(State())

    init(_ store: (any ItemStore)?) {
        self.store = store
    }

    func serve(_ campaigns: Campaigns, _ found: TakenDown) {
        state.withLock { state in
            state.campaigns = campaigns
            // The result of a later read for the previous campaigns lacks the ads of these ones.
            if found.number < state.found.number { state.found.ads.formUnion(found.ads) } else { state.found = found }
        }
    }

    func contains(_ source: String) -> Bool { state.withLock { $0.found.items.sources.contains(source) || $0.found.ads.contains(source) } }

    func hides(_ source: String) -> Bool { state.withLock { $0.hiddenSources.contains(source) } }

    /// Returns true if other items are hidden than before.
    func hide(_ hidden: HiddenItems) -> Bool {
        let sources = Self.sources(hidden.urls)
        return state.withLock { state in
            defer { (state.hidden, state.hiddenSources) = (hidden, sources) }
            return state.hidden.digest != hidden.digest
        }
    }

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

    private static func sources(_ urls: some Sequence<String>) -> Set<String> {
        Set(urls.compactMap { FetchURL.isPlain($0) ? $0 : (try? FetchURL($0))?.text })
    }
}
