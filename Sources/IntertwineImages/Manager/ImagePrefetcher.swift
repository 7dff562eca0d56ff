internal import IntertwinePrimitives
internal import Synchronization

/// A prefetcher for the images of pages that viewers are about to open, in recently requested sizes and formats.
/// Images are fetched one after another, with a pause after each, so that prefetching stays within its share of the time.
package final class ImagePrefetcher: Sendable {
    private struct Presentation: Hashable {
        let shape: String?
        let scale: Int
        let kinds: AcceptedFormats
    }

    private struct State {
        var recent = BoundedCache<Presentation, Int64>(limit: 2 * maxPerPage)
        var waiting: [ImageRequest] = []
        var isAtWork = false
        var isStopped = false
    }

    private static let maxPerPage = 32
    private static let memorySeconds: Int64 = 600
    private static let mostWaiting = 500
    private static let prefix = Array(ImageURLSigner.prefix.utf8)

    private let manager: ImageNetworkManager
    private let signer: ImageURLSigner
    private let share: Int
    private let clock: @Sendable () -> Int64
    private let state = Mutex(State())

    package init(_ manager: ImageNetworkManager, signer: ImageURLSigner, share: Int, clock: @escaping @Sendable () -> Int64) {
        (self.manager, self.signer, self.share, self.clock) = (manager, signer, min(max(share, 1), 100), clock)
    }

    package func record(_ request: ImageRequest) {
        guard request.priority > .prefetch else { return }
        let presentation = Presentation(shape: request.sizing?.variant.shape, scale: request.sizing?.scale ?? 1, kinds: request.kinds)
        let now = clock()
        state.withLock { $0.recent[presentation] = now }
    }

    package func prefetch(_ page: [UInt8]) {
        let now = clock()
        let presentations = state.withLock { state in
            state.recent.removeAll { now - $1 >= Self.memorySeconds }
            return state.recent.entries.suffix(Self.maxPerPage).map(\.key).sorted { $0.scale < $1.scale }
        }
        guard !presentations.isEmpty else { return }
        let requests = hrefs(page).flatMap { imageRequests($0, presentations, now) }
        let mustStart = state.withLock { state in
            guard !state.isStopped else { return false }
            state.waiting += requests.prefix(Self.mostWaiting - state.waiting.count)
            defer { state.isAtWork = state.isAtWork || !state.waiting.isEmpty }
            return !state.isAtWork && !state.waiting.isEmpty
        }
        guard mustStart else { return }
        Task(priority: .low) { await work() }
    }

    package func stop() {
        state.withLock { state in
            state.isStopped = true
            state.waiting = []
        }
    }

    private func imageRequests(_ path: String, _ presentations: [Presentation], _ now: Int64) -> [ImageRequest] {
        guard let found = try? signer.verify(path, now: now) else { return [] }
        return presentations.compactMap { presentation in
            guard presentation.shape == found.sizing?.variant.shape else { return nil }
            let sizing = found.sizing.flatMap { ResizeMode($0.variant, scale: presentation.scale) }
            guard (sizing == nil) == (found.sizing == nil) else { return nil }
            var request = ImageRequest(found.source, sizing: sizing, priority: .prefetch)
            request.kinds = presentation.kinds
            // A stream would end once it is released, so the complete body is requested.
            request.requiresCompleteBody = true
            return manager.isAtHand(request) ? nil : request
        }
    }

    private func hrefs(_ page: [UInt8]) -> [String] {
        var hrefs: [String] = []
        var rest = page[...]
        while let start = rest.firstRange(of: Self.prefix)?.lowerBound {
            let path = rest[start...].prefix { $0 != UInt8(ascii: "\"") }
            hrefs.append(String(decoding: path, as: UTF8.self))
            rest = rest[path.endIndex...]
        }
        return hrefs
    }

    private func work() async {
        while let request = next() {
            let took = await ContinuousClock().measure { _ = await manager.image(request) }
            guard share < 100 else { continue }
            try? await Task.sleep(for: took * (100 - share) / share)
        }
    }

    private func next() -> ImageRequest? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isAtWork = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
