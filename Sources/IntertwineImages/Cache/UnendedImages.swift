internal import IntertwineEventLoop

/// A bounded store of images without their end, although their downloads ended without an error. The type is pure: it performs no I/O.
///
/// Why: these images are not cached, and clients must not cache them. Without the store, each request would start a download.
struct UnendedImages {
    private struct Entry {
        let image: CachedImage
        let isDelimited: Bool
        let until: MonotonicInstant
    }

    /// The lifetime of an entry, after which the origin is asked again. The origin may have the complete image by then.
    private static let lifetime = Duration.seconds(300)

    private let capacity: Int
    /// The entries, oldest first.
    private var entries: [Entry] = []

    /// Creates a store.
    ///
    /// - Parameter capacity: The maximum number of bytes.
    init(capacity: Int = 16 << 20) { self.capacity = capacity }

    /// Returns an image, and true if its origin declared the length of the body.
    func image(_ source: String, _ wanted: AcceptedFormats.Set, now: MonotonicInstant) -> (image: CachedImage, isDelimited: Bool)? {
        let keys = [source, CachedImage.key(source, wanted)]
        return entries.first { keys.contains($0.image.key) && now < $0.until }.map { ($0.image, $0.isDelimited) }
    }

    mutating func insert(_ image: CachedImage, isDelimited: Bool = true, now: MonotonicInstant) {
        entries.removeAll { $0.image.key == image.key || $0.until <= now }
        guard image.body.count <= capacity else { return }
        entries.append(Entry(image: image, isDelimited: isDelimited, until: now.advanced(by: Self.lifetime)))
        while entries.reduce(0, { $0 + $1.image.body.count }) > capacity { entries.removeFirst() }
    }

    mutating func remove(where isGone: (CachedImage) -> Bool) { entries.removeAll { isGone($0.image) } }
}
