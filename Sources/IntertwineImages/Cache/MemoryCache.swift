internal import IntertwineEventLoop
internal import Synchronization

/// A memory cache of complete images with LRU eviction and a hard limit in bytes. It is thread-safe.
final class MemoryCache: Sendable {
    fileprivate struct Node: Sendable {
        var image: CachedImage?
        var previous: Int
        var next: Int
    }

    fileprivate struct State: Sendable {
        var indexes: [String: Int] = [:]
        /// The keys of the images resized from a source.
        var sized: [String: Set<String>] = [:]
        /// The nodes of a ring in LRU order. The first node is the sentinel and holds no image.
        var nodes = [Node(image: nil, previous: 0, next: 0)]
        var free: [Int] = []
        var bytes = 0
        var evictions = 0
    }

    /// The approximate bytes of an entry beside its body: node, keys, object, and the response heads of its companion.
    private static let overhead = 2_048

    private let capacity: Int
    /// The largest body in memory; larger images are stored on disk only.
    private let largest: Int
    private let state = Mutex(State())

    init(capacity: Int) {
        self.capacity = max(0, capacity)
        largest = max(0, capacity - Self.overhead)
    }

    var bytes: Int { state.withLock { $0.bytes } }
    var count: Int { state.withLock { $0.indexes.count } }
    var evictions: Int { state.withLock { $0.evictions } }

    /// Returns an original.
    ///
    /// - Parameter wanted: The formats of a request to the origin.
    func image(_ source: String, _ wanted: AcceptedFormats.Set) -> CachedImage? {
        state.withLock { state -> CachedImage? in
            state.use(state.indexes[source] ?? state.indexes[CachedImage.key(source, wanted)])
        }
    }

    /// Returns a resized image.
    func image(_ wish: ResizeKey) -> CachedImage? { state.withLock { state in state.use(state.indexes[wish.key]) } }

    /// Returns an image by key, with a position hint for repeated lookups.
    ///
    /// - Parameter place: The position of the last lookup; set to the current position.
    func image(_ key: String, at place: inout Int) -> CachedImage? {
        state.withLock { [place] state -> (CachedImage, Int)? in
            let isThere = state.nodes.indices.contains(place) && state.nodes[place].image?.key == key
            guard let found = isThere ? place : state.indexes[key], let image = state.use(found) else { return nil }
            return (image, found)
        }.map {
            place = $0.1
            return $0.0
        }
    }

    /// Returns true if a body of this size is stored.
    func accepts(_ bytes: Int) -> Bool { bytes <= largest }

    /// Stores an image. If it is too large, an older image with its key is removed, so that it is no longer served.
    func insert(_ image: CachedImage) {
        state.withLock { state in
            state.remove(image.key, overhead: Self.overhead)
            // The origin negotiates formats, so the common entry is invalid.
            if image.replacesCommon { state.remove(image.source, overhead: Self.overhead) }
            guard accepts(image.body.count) else { return }
            state.add(image, overhead: Self.overhead)
            while state.bytes > capacity, let last = state.nodes[state.nodes[0].previous].image {
                state.remove(last.key, overhead: Self.overhead)
                state.evictions += 1
            }
        }
    }

    /// Replaces an image by another one with the same bytes.
    ///
    /// - Returns: False if the image is no longer cached.
    func replace(_ image: CachedImage, by other: CachedImage) -> Bool {
        state.withLock { state in
            guard let place = state.indexes[image.key], state.nodes[place].image === image else { return false }
            state.nodes[place].image = other
            return true
        }
    }

    /// Removes all images of a source, including resized ones.
    func remove(_ source: String) {
        state.withLock { state in
            for key in CachedImage.keys(source) + (state.sized[source] ?? []) { state.remove(key, overhead: Self.overhead) }
        }
    }

    func remove(where isGone: (String) -> Bool) {
        state.withLock { state in
            for image in state.nodes.compactMap(\.image) where isGone(image.source) { state.remove(image.key, overhead: Self.overhead) }
        }
    }
}

extension MemoryCache.State {
    /// Returns the image at a position, and marks it as most recently used.
    fileprivate mutating func use(_ place: Int?) -> CachedImage? {
        guard let place else { return nil }
        unlink(place)
        linkFirst(place)
        return nodes[place].image
    }

    fileprivate mutating func add(_ image: CachedImage, overhead: Int) {
        let place = free.popLast() ?? nodes.count
        if place == nodes.count { nodes.append(MemoryCache.Node(image: nil, previous: place, next: place)) }
        nodes[place].image = image
        indexes[image.key] = place
        if image.sizing != nil { sized[image.source, default: []].insert(image.key) }
        linkFirst(place)
        bytes += image.body.count + overhead
    }

    fileprivate mutating func remove(_ key: String, overhead: Int) {
        guard let place = indexes.removeValue(forKey: key), let image = nodes[place].image else { return }
        unlink(place)
        nodes[place].image = nil
        if image.sizing != nil {
            sized[image.source]?.remove(key)
            if sized[image.source]?.isEmpty == true { sized[image.source] = nil }
        }
        free.append(place)
        bytes -= image.body.count + overhead
        if image.body.file == nil { MallocTrimmer.shared.recordFreed(image.body.count) }
    }

    fileprivate mutating func linkFirst(_ place: Int) {
        let second = nodes[0].next
        nodes[place].previous = 0
        nodes[place].next = second
        nodes[second].previous = place
        nodes[0].next = place
    }

    fileprivate mutating func unlink(_ place: Int) {
        let (previous, next) = (nodes[place].previous, nodes[place].next)
        nodes[previous].next = next
        nodes[next].previous = previous
    }
}
