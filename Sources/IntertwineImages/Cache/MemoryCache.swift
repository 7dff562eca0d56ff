internal import IntertwineHTTPServer
internal import Synchronization

/// A memory cache of complete images with LRU eviction and a hard limit in bytes.
final class MemoryCache: Sendable {
    fileprivate struct Node: Sendable {
        var image: CachedImage?
        var previous: Int
        var next: Int
    }

    fileprivate struct State: Sendable {
        var indexes: [String: Int] = [:]
        var sized: [String: Set<String>] = [:]
        var nodes = [Node(image: nil, previous: 0, next: 0)]
        var free: [Int] = []
        var bytes = 0
        var evictions = 0
    }

    private static let overhead = 2_048

    private let capacity: Int
    private let largest: Int
    private let state = Mutex(State())

    init(capacity: Int) {
        self.capacity = max(0, capacity)
        largest = max(0, capacity - Self.overhead)
    }

    var bytes: Int { state.withLock { $0.bytes } }
    var count: Int { state.withLock { $0.indexes.count } }
    var evictions: Int { state.withLock { $0.evictions } }

    func image(_ source: String, _ wanted: AcceptedFormats.Set) -> CachedImage? {
        state.withLock { state -> CachedImage? in
            state.use(state.indexes[source] ?? state.indexes[CachedImage.key(source, wanted)])
        }
    }

    func image(_ resizeKey: ResizeKey) -> CachedImage? { state.withLock { state in state.use(state.indexes[resizeKey.key]) } }

    func image(_ key: String, at index: inout Int) -> CachedImage? {
        state.withLock { [index] state -> (CachedImage, Int)? in
            let isThere = state.nodes.indices.contains(index) && state.nodes[index].image?.key == key
            guard let found = isThere ? index : state.indexes[key], let image = state.use(found) else { return nil }
            return (image, found)
        }.map {
            index = $0.1
            return $0.0
        }
    }

    func accepts(_ bytes: Int) -> Bool { bytes <= largest }

    /// If it is too large, an older image with its key is removed, so that it is no longer served.
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

    /// False if another image has taken its place.
    func replace(_ image: CachedImage, by other: CachedImage) -> Bool {
        state.withLock { state in
            guard let index = state.indexes[image.key] else { return true }
            guard state.nodes[index].image === image else { return false }
            state.nodes[index].image = other
            return true
        }
    }

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
    fileprivate mutating func use(_ index: Int?) -> CachedImage? {
        guard let index else { return nil }
        unlink(index)
        linkFirst(index)
        return nodes[index].image
    }

    fileprivate mutating func add(_ image: CachedImage, overhead: Int) {
        let index = free.popLast() ?? nodes.count
        if index == nodes.count { nodes.append(MemoryCache.Node(image: nil, previous: index, next: index)) }
        nodes[index].image = image
        indexes[image.key] = index
        if image.sizing != nil { sized[image.source, default: []].insert(image.key) }
        linkFirst(index)
        bytes += image.body.count + overhead
    }

    fileprivate mutating func remove(_ key: String, overhead: Int) {
        guard let index = indexes.removeValue(forKey: key), let image = nodes[index].image else { return }
        unlink(index)
        nodes[index].image = nil
        if image.sizing != nil {
            sized[image.source]?.remove(key)
            if sized[image.source]?.isEmpty == true { sized[image.source] = nil }
        }
        free.append(index)
        bytes -= image.body.count + overhead
        if image.body.file == nil { MallocTrimmer.shared.recordFreed(image.body.count) }
    }

    fileprivate mutating func linkFirst(_ index: Int) {
        let second = nodes[0].next
        nodes[index].previous = 0
        nodes[index].next = second
        nodes[second].previous = index
        nodes[0].next = index
    }

    fileprivate mutating func unlink(_ index: Int) {
        let (previous, next) = (nodes[index].previous, nodes[index].next)
        nodes[previous].next = next
        nodes[next].previous = previous
    }
}
