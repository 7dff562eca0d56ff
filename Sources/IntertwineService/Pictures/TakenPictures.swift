internal import IntertwineFeed
internal import IntertwineFetch
internal import IntertwineStorage
internal import Logging
internal import Synchronization

/// The pictures of items that are taken down, and of advertisements whose campaigns are: they are gone with them, from whatever page their URLs
/// were taken.
///
/// What the items' fields led to is known to the store, and which advertisements are gone with their campaigns to those. They are asked where that has changed, four times a second at the most. Whoever finds it
/// so waits for the answer, but not for a store that sleeps: until it has answered, and where it does not, what it said before holds.
final class TakenPictures: Sendable {
    private struct State {
        var sources: Set<String> = []
        var version: StoreVersion?
        var looked: ContinuousClock.Instant?
        var isLooking = false
        /// Those in force.
        var campaigns: Campaigns?
    }

    private static let interval = Duration.milliseconds(250)
    /// How long a picture waits for what the store says.
    private static let patience = Duration.milliseconds(500)

    private let store: (any ItemStore)?
    private let logger: Logger
    private let state = Mutex(State())

    init(_ store: (any ItemStore)?, logger: Logger) {
        (self.store, self.logger) = (store, logger)
    }

    /// Asks these campaigns from now on.
    func serve(_ campaigns: Campaigns) { state.withLock { ($0.campaigns, $0.version) = (campaigns, nil) } }

    /// Whether a picture is gone, as of when the store was last asked; nil where it is time to ask again.
    ///
    /// - Parameter source: in the one way in which pictures are known.
    func known(_ source: String) -> Bool? {
        guard let store else { return false }
        let version = store.version
        return state.withLock { Self.isDue($0, version) ? nil : $0.sources.contains(source) }
    }

    /// Whether a picture is gone.
    func contains(_ source: String) async -> Bool {
        if let known = known(source) { return known }
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        Task {
            await look()
            end.finish()
        }
        let timer = Task {
            try? await Task.sleep(for: Self.patience)
            end.finish()
        }
        for await _ in ends {}
        timer.cancel()
        return state.withLock { $0.sources.contains(source) }
    }

    private static func isDue(_ state: borrowing State, _ version: StoreVersion) -> Bool {
        guard !state.isLooking, state.version != version else { return false }
        return state.looked.map { $0.duration(to: .now) >= interval } ?? true
    }

    private func look() async {
        guard let store else { return }
        let version = store.version
        let (isMine, campaigns) = state.withLock { state in
            guard Self.isDue(state, version) else { return (false, state.campaigns) }
            state.isLooking = true
            return (true, state.campaigns)
        }
        guard isMine else { return }
        var found: Set<String>?
        do {
            let urls = try await store.takenDownURLs() + (campaigns?.withheldURLs(in: store) ?? [])
            found = Set(urls.compactMap { FetchURL.isPlain($0) ? $0 : (try? FetchURL($0))?.text })
        } catch {
            logger.debug("what pictures are taken down cannot be read", metadata: ["error": "\(error)"])
        }
        state.withLock { state in
            (state.isLooking, state.looked) = (false, .now)
            // Others may be in force by now.
            if let found { (state.sources, state.version) = (found, state.campaigns === campaigns ? version : nil) }
        }
    }
}
