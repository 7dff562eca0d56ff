internal import IntertwineEventLoop

/// Holds images without their end, though their origins sent all of them, for some minutes. The type is pure: it performs no I/O.
///
/// Why: each request for one would be a download otherwise, as it is not cached, and clients are not to cache it.
struct UnendedImages {
    private struct Entry {
        let image: CachedImage
        let until: MonotonicInstant
    }

    /// The time after which the origin is asked again. It may have the rest by then.
    private static let lifetime = Duration.seconds(300)

    private let capacity: Int
    /// The entries, oldest first.
    private var entries: [Entry] = []

    /// - Parameter capacity: The maximum number of bytes.
    init(capacity: Int = 16 << 20) { self.capacity = capacity }

    func image(_ source: String, _ wanted: AcceptedFormats.Set, now: MonotonicInstant) -> CachedImage? {
        let keys = [source, CachedImage.key(source, wanted)]
        return entries.first { keys.contains($0.image.key) && now < $0.until }?.image
    }

    mutating func insert(_ image: CachedImage, now: MonotonicInstant) {
        entries.removeAll { $0.image.key == image.key || $0.until <= now }
        guard image.body.count <= capacity else { return }
        entries.append(Entry(image: image, until: now.advanced(by: Self.lifetime)))
        while entries.reduce(0, { $0 + $1.image.body.count }) > capacity { entries.removeFirst() }
    }

    mutating func remove(where isGone: (CachedImage) -> Bool) { entries.removeAll { isGone($0.image) } }
}
