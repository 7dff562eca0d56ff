internal import IntertwineEventLoop

/// The pictures that are kept, in memory and on disk, and the failures that are remembered in their place. On the loop of its ``ImageFetchCoordinator`` only.
struct ImageStore {
    private let memoryCache: MemoryCache
    private let disk: DiskCache?
    private var failures = NegativeCache()
    private var unended = UnendedImages()

    init(memoryCache: MemoryCache, disk: DiskCache?) {
        self.memoryCache = memoryCache
        self.disk = disk
    }

    /// What memory has.
    func image(_ source: String, _ wanted: AcceptedFormats.Set) -> CachedImage? { memoryCache.image(source, wanted) }

    /// The image without its end that was fetched within the last minutes.
    func unendedImage(_ source: String, _ wanted: AcceptedFormats.Set) -> CachedImage? { unended.image(source, wanted, now: .now()) }

    mutating func holdUnended(_ image: CachedImage) { unended.insert(image, now: .now()) }

    /// Whether the disk may have it.
    func isOnDisk(_ source: String, _ wanted: AcceptedFormats.Set) -> Bool { disk?.contains(source, wanted) == true }

    /// - Parameter done: called from the disk's queue.
    func readDisk(_ source: String, _ wanted: AcceptedFormats.Set, done: @escaping @Sendable (CachedImage?) -> Void) {
        if let disk { disk.read(source, wanted, done: done) } else { done(nil) }
    }

    /// The disk had it: memory has it too from here on.
    func insertInMemory(_ image: CachedImage) { memoryCache.insert(image) }

    mutating func store(_ image: CachedImage) {
        unended.remove { $0.key == image.key }
        memoryCache.insert(image)
        disk?.write(image)
    }

    /// It cannot be decoded to its end: it is kept until then at the longest, where it still is the one that is kept.
    func shortenFreshness(_ image: CachedImage, until end: Int64) {
        let doubted = image.suspect(until: end)
        if memoryCache.replace(image, by: doubted) { disk?.write(doubted) }
    }

    /// Whether a picture is kept once it is whole, as far as its head tells.
    func accepts(_ head: OriginResponseHead) -> Bool {
        guard head.freshness != nil, head.isDelimited else { return false }
        return head.length.map { memoryCache.accepts($0) || disk?.accepts($0) == true } ?? true
    }

    mutating func remove(_ source: String) {
        unended.remove { $0.source == source }
        memoryCache.remove(source)
        disk?.remove(source)
    }

    /// A failure that is to be answered without asking again: of this key, or of all that the source has.
    func failure(for key: String, of source: String) -> ImageError? {
        failures.failure(for: key, now: .now()) ?? (key == source ? nil : failures.failure(for: source, now: .now()))
    }

    /// What is gone for good, or is no picture, is not kept any more either.
    mutating func remember(_ failure: ImageError, for key: String, _ source: String) {
        failures.record(failure, for: key, now: .now())
        if [.upstream(status: 404), .upstream(status: 410), .undecodable].contains(failure.reason) { remove(source) }
    }

    mutating func forgetFailure(for key: String) { failures.forget(key) }

    /// - Parameter done: called where nothing of it is found any more, with whether nothing of it is left on disk either.
    mutating func purge(_ selection: ImageSelection, _ done: @escaping @Sendable (Bool) -> Void) {
        unended.remove { selection.contains($0.source) }
        if case .source(let source) = selection {
            memoryCache.remove(source)
            CachedImage.keys(source).forEach { failures.forget($0) }
            if let disk { disk.remove(source, done: done) } else { done(true) }
            return
        }
        memoryCache.remove(where: selection.contains)
        failures.forget { key in selection.contains(String(key.prefix { $0 != "\n" })) }
        if let disk { disk.remove(where: { selection.contains($0) }, done: done) } else { done(true) }
    }

    /// - Parameter done: called where what was kept so far is on disk.
    func flush(_ done: @escaping @Sendable () -> Void) {
        if let disk { disk.flush(done) } else { done() }
    }

    func report(to metrics: inout ImageMetrics) {
        metrics.negativeEntries = failures.count
        metrics.memoryBytes = memoryCache.bytes
        metrics.memoryEntries = memoryCache.count
        metrics.memoryEvictions = memoryCache.evictions
        guard let counts = disk?.counts else { return }
        metrics.diskBytes = counts.bytes
        metrics.diskEntries = counts.entries
        metrics.diskEvictions = counts.evictions
        metrics.diskWriteFailures = counts.writeFailures
        metrics.diskDamaged = counts.damaged
    }
}

/// Failures that are answered again without asking the origin again. Bounded in number and in time. Pure.
struct NegativeCache: Sendable {
    private struct Entry {
        let failure: ImageError
        let until: MonotonicInstant
        /// How often in a row it failed in passing.
        let strikes: Int
    }

    /// Sources remembered.
    private let capacity: Int
    private var entries: [String: Entry] = [:]

    init(capacity: Int = 10_000) {
        self.capacity = capacity
    }

    var count: Int { entries.count }

    /// The failure, with the time after which it pays to ask again.
    func failure(for source: String, now: MonotonicInstant) -> ImageError? {
        guard let entry = entries[source], now < entry.until else { return nil }
        var failure = entry.failure
        failure.retryAfter = max(1, Int(entry.until.since(now).components.seconds) + 1)
        return failure
    }

    mutating func record(_ failure: ImageError, for source: String, now: MonotonicInstant) {
        let strikes = (entries[source]?.strikes ?? 0) + 1
        guard let time = failure.remembered(strikes: strikes) else { return }
        if entries.count >= capacity, entries[source] == nil { makeRoom(now) }
        entries[source] = Entry(failure: failure, until: now.advanced(by: time), strikes: strikes)
    }

    mutating func forget(_ source: String) {
        entries[source] = nil
    }

    mutating func forget(where isGone: (String) -> Bool) {
        entries = entries.filter { !isGone($0.key) }
    }

    private mutating func makeRoom(_ now: MonotonicInstant) {
        entries = entries.filter { now < $0.value.until }
        // A tenth at a time: to look through all of them for each new one would keep the loop busy.
        guard entries.count >= capacity else { return }
        for source in Array(entries.keys.prefix(max(1, capacity / 10))) { entries[source] = nil }
    }
}
