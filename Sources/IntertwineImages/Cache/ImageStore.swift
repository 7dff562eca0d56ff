internal import IntertwineEventLoop

/// The store of images in memory and on disk, and of remembered failures. All access is on the event loop of its ``ImageFetchCoordinator``.
struct ImageStore {
    private let memoryCache: MemoryCache
    private let disk: DiskCache?
    private var failures = NegativeCache()
    private var unended = UnendedImages()

    init(memoryCache: MemoryCache, disk: DiskCache?) {
        self.memoryCache = memoryCache
        self.disk = disk
    }

    /// Returns the image from the memory cache.
    func image(_ source: String, _ wanted: AcceptedFormats.Set) -> CachedImage? { memoryCache.image(source, wanted) }

    /// Returns the image without its end that was fetched within the last minutes.
    func unendedImage(_ source: String, _ wanted: AcceptedFormats.Set) -> (image: CachedImage, isDelimited: Bool)? {
        unended.image(source, wanted, now: .now())
    }

    mutating func holdUnended(_ image: CachedImage, isDelimited: Bool) { unended.insert(image, isDelimited: isDelimited, now: .now()) }

    /// Returns true if the disk cache may have the image.
    func isOnDisk(_ source: String, _ wanted: AcceptedFormats.Set) -> Bool { disk?.contains(source, wanted) == true }

    /// Reads an image from the disk cache.
    ///
    /// - Parameter done: Called on the queue of the disk cache.
    func readDisk(_ source: String, _ wanted: AcceptedFormats.Set, done: @escaping @Sendable (CachedImage?) -> Void) {
        if let disk { disk.read(source, wanted, done: done) } else { done(nil) }
    }

    /// Adds an image from the disk cache to the memory cache.
    func insertInMemory(_ image: CachedImage) { memoryCache.insert(image) }

    mutating func store(_ image: CachedImage) {
        unended.remove { $0.key == image.key }
        memoryCache.insert(image)
        disk?.write(image)
    }

    /// Limits the freshness of an image that cannot be decoded to its end, if it is still the cached one.
    func shortenFreshness(_ image: CachedImage, until end: Int64) {
        let doubted = image.suspect(until: end)
        if memoryCache.replace(image, by: doubted) { disk?.write(doubted) }
    }

    /// Returns true if the complete image will be stored, as far as its head shows.
    func accepts(_ head: OriginResponseHead) -> Bool {
        guard head.freshness != nil, head.isDelimited else { return false }
        return head.length.map { memoryCache.accepts($0) || disk?.accepts($0) == true } ?? true
    }

    mutating func remove(_ source: String) {
        unended.remove { $0.source == source }
        memoryCache.remove(source)
        disk?.remove(source)
    }

    /// Returns the remembered failure of this key or of its source; nil if a request may be sent.
    func failure(for key: String, of source: String) -> ImageError? {
        failures.failure(for: key, now: .now()) ?? (key == source ? nil : failures.failure(for: source, now: .now()))
    }

    /// Remembers a failure. A deleted or undecodable image is removed from the caches, too.
    mutating func remember(_ failure: ImageError, for key: String, _ source: String) {
        failures.record(failure, for: key, now: .now())
        if [.upstream(status: 404), .upstream(status: 410), .undecodable].contains(failure.reason) { remove(source) }
    }

    mutating func forgetFailure(for key: String) { failures.forget(key) }

    /// Purges the selected images.
    ///
    /// - Parameter done: Called once no selected image can be found, with true if nothing of the selection is left on disk.
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

    /// Waits for pending writes.
    ///
    /// - Parameter done: Called once all images stored so far are on disk.
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

/// A negative cache of failures, bounded in entries and in time. The type is pure: it performs no I/O.
struct NegativeCache: Sendable {
    private struct Entry {
        let failure: ImageError
        let until: MonotonicInstant
        /// The number of consecutive failures.
        let strikes: Int
    }

    /// The maximum number of sources.
    private let capacity: Int
    private var entries: [String: Entry] = [:]

    init(capacity: Int = 10_000) {
        self.capacity = capacity
    }

    var count: Int { entries.count }

    /// Returns the remembered failure with the time after which a retry is useful; nil if it has expired.
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
        // A tenth of the entries is removed at once, because a scan for each new entry would block the event loop.
        guard entries.count >= capacity else { return }
        for source in Array(entries.keys.prefix(max(1, capacity / 10))) { entries[source] = nil }
    }
}
