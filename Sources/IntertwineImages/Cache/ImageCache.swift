internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import Synchronization

/// The cache of originals and of resized images: memory, disk, remembered failures, and images without their end.
final class ImageCache: Sendable {
    private struct UnendedImage {
        var image: CachedImage
        let isDelimited: Bool
        let until: MonotonicInstant
    }

    private struct State {
        var failures = NegativeCache()
        /// The images without their end, although their downloads ended without an error. Why: they are not cached, and clients must not
        /// cache them. Without this table, each request would start a download.
        var unended: BoundedCache<String, UnendedImage>
    }

    private static let unendedLifetime = Duration.seconds(300)

    let memory: MemoryCache
    private let disk: DiskCache?
    private let state: Mutex<State>

    init(memory: MemoryCache, disk: DiskCache?, unendedBytes: Int = 16 << 20) {
        (self.memory, self.disk) = (memory, disk)
        state = Mutex(State(unended: BoundedCache(limit: unendedBytes) { $1.image.body.count }))
    }

    // MARK: Lookup

    func isOnDisk(_ source: String, _ wanted: AcceptedFormats.Set) -> Bool { disk?.contains(source, wanted) == true }

    func readDisk(_ source: String, _ wanted: AcceptedFormats.Set, done: @escaping @Sendable (CachedImage?) -> Void) {
        if let disk { disk.read(source, wanted, done: done) } else { done(nil) }
    }

    func readDisk(_ key: ResizeKey) async -> CachedImage? {
        guard let disk, disk.contains(key) else { return nil }
        return await withCheckedContinuation { continuation in disk.read(key) { continuation.resume(returning: $0) } }
    }

    func unendedImage(
        _ source: String, _ wanted: AcceptedFormats.Set, now: MonotonicInstant = .now()
    ) -> (image: CachedImage, isDelimited: Bool)? {
        state.withLock { state in
            let found = state.unended[source] ?? state.unended[CachedImage.key(source, wanted)]
            return found.flatMap { now < $0.until ? ($0.image, $0.isDelimited) : nil }
        }
    }

    func failure(for key: String, of source: String) -> ImageError? {
        state.withLock { state in
            state.failures.failure(for: key, now: .now()) ?? (key == source ? nil : state.failures.failure(for: source, now: .now()))
        }
    }

    // MARK: Storage

    func accepts(_ bytes: Int) -> Bool { memory.accepts(bytes) || disk?.accepts(bytes) == true }

    func store(_ image: CachedImage) {
        state.withLock { $0.unended[image.key] = nil }
        memory.insert(image)
        disk?.write(image)
    }

    func holdUnended(_ image: CachedImage, isDelimited: Bool, now: MonotonicInstant = .now()) {
        let entry = UnendedImage(image: image, isDelimited: isDelimited, until: now.advanced(by: Self.unendedLifetime))
        state.withLock { $0.unended[image.key] = entry }
    }

    func shortenFreshness(_ image: CachedImage, until end: Int64) {
        let doubted = image.suspect(until: end)
        state.withLock { state in
            if state.unended.peek(image.key)?.image === image { state.unended[image.key]?.image = doubted }
        }
        if memory.replace(image, by: doubted), isOnDisk(image.source, image.variant ?? .all) { disk?.write(doubted) }
    }

    func remember(_ failure: ImageError, for key: String, _ source: String) {
        state.withLock { $0.failures.record(failure, for: key, now: .now()) }
        if [.upstream(status: 404), .upstream(status: 410), .undecodable].contains(failure.reason) { remove(source) }
    }

    func forgetFailure(for key: String) { state.withLock { $0.failures.forget(key) } }

    // MARK: Removal

    func remove(_ source: String) {
        removeFromMemory(source)
        disk?.remove(source)
    }

    private func removeFromMemory(_ source: String) {
        state.withLock { $0.unended.removeAll { $1.image.source == source } }
        memory.remove(source)
    }

    func purge(_ selection: ImageSelection, _ done: @escaping @Sendable (Bool) -> Void) {
        if case .source(let source) = selection {
            removeFromMemory(source)
            state.withLock { state in CachedImage.keys(source).forEach { state.failures.forget($0) } }
            if let disk { disk.remove(source, done: done) } else { done(true) }
            return
        }
        state.withLock { state in
            state.unended.removeAll { selection.contains($1.image.source) }
            state.failures.forget { key in selection.contains(String(key.prefix { $0 != "\n" })) }
        }
        memory.remove(where: selection.contains)
        if let disk { disk.remove(where: { selection.contains($0) }, done: done) } else { done(true) }
    }

    func flush() async {
        guard let disk else { return }
        await withCheckedContinuation { continuation in disk.flush { continuation.resume() } }
    }

    func report(to metrics: inout ImageMetrics) {
        metrics.negativeEntries = state.withLock { $0.failures.count }
        (metrics.memoryBytes, metrics.memoryEntries, metrics.memoryEvictions) = (memory.bytes, memory.count, memory.evictions)
        guard let counts = disk?.counts else { return }
        (metrics.diskBytes, metrics.diskEntries, metrics.diskEvictions) = (counts.bytes, counts.entries, counts.evictions)
        (metrics.diskWriteFailures, metrics.diskDamaged) = (counts.writeFailures, counts.damaged)
    }
}

struct NegativeCache: Sendable {
    private struct Entry {
        let failure: ImageError
        let until: MonotonicInstant
        let strikes: Int
    }

    private var entries: BoundedCache<String, Entry>

    init(capacity: Int = 10_000) { entries = BoundedCache(limit: capacity) }

    var count: Int { entries.count }

    mutating func failure(for source: String, now: MonotonicInstant) -> ImageError? {
        guard let entry = entries[source], now < entry.until else { return nil }
        var failure = entry.failure
        failure.retryAfter = max(1, Int(entry.until.since(now).components.seconds) + 1)
        return failure
    }

    mutating func record(_ failure: ImageError, for source: String, now: MonotonicInstant) {
        let strikes = (entries.peek(source)?.strikes ?? 0) + 1
        guard let time = failure.remembered(strikes: strikes) else { return }
        entries[source] = Entry(failure: failure, until: now.advanced(by: time), strikes: strikes)
    }

    mutating func forget(_ source: String) { entries[source] = nil }

    mutating func forget(where isGone: (String) -> Bool) { entries.removeAll { key, _ in isGone(key) } }
}
