internal import IntertwineHTTPServer
internal import IntertwinePrimitives
internal import Synchronization

final class ResponseCache<Key: Hashable & Sendable, Content: Sendable>: Sendable {
    private final class Entry: Sendable {
        let content: Mutex<Content>
        let isReferenced = Atomic(false)

        init(_ content: Content) { self.content = Mutex(content) }

        func withContent<Result: Sendable>(_ body: (inout Content) -> Result?) -> Result? {
            // A write to a line that other loops read would slow them down.
            if !isReferenced.load(ordering: .relaxed) { isReferenced.store(true, ordering: .relaxed) }
            return content.withLock { body(&$0) }
        }
    }

    private final class Shard: Sendable {
        let targets = Mutex<[UInt64: (target: [UInt8], entry: Entry)]>([:])
    }

    private struct Index {
        /// The entries with their targets and sizes in bytes.
        var entries: [Key: (entry: Entry, target: [UInt8], size: Int)] = [:]
        var order: FIFOQueue<Key> = []
        var size = 0
    }

    private static var shardCount: Int { 16 }

    private let capacity: Int
    private let shards: [Shard]
    /// The lock is taken before the lock of a shard or of an entry.
    private let index = Mutex(Index())

    init(capacity: Int) {
        self.capacity = capacity
        shards = (0..<Self.shardCount).map { _ in Shard() }
    }

    var isEnabled: Bool { capacity > 0 }

    /// The number of entries and their size in bytes.
    var contents: (count: Int, bytes: Int) { index.withLock { ($0.entries.count, $0.size) } }

    private func shard(_ hash: UInt64) -> Shard { shards[Int(truncatingIfNeeded: hash) & (Self.shardCount - 1)] }

    /// It must not use the cache.
    func withContent<Result: Sendable>(
        for head: borrowing RequestHead, before end: [UInt8] = [], _ body: (inout Content) -> Result?
    ) -> Result? {
        let hash = RequestHead.hash(ofTarget: end, after: head.targetHash)
        let entry = shard(hash).targets.withLock { targets -> Entry? in
            guard let found = targets[hash], head.hasTarget(found.target, before: end) else { return nil }
            return found.entry
        }
        return entry?.withContent(body)
    }

    func withContent<Result: Sendable>(of key: Key, target: [UInt8]? = nil, _ body: (inout Content) -> Result?) -> Result? {
        let found = index.withLock { $0.entries[key]?.entry }
        guard let found, let result = found.withContent(body) else { return nil }
        if let target {
            index.withLock { index in
                guard let old = index.entries[key], old.entry === found, old.target != target else { return }
                removeTarget(old.target, of: old.entry)
                addTarget(target, of: old.entry)
                let size = old.size - old.target.count + target.count
                index.entries[key] = (old.entry, target, size)
                index.size += size - old.size
            }
        }
        return result
    }

    func store(_ content: Content, for key: Key, target: [UInt8], size: Int) {
        guard isEnabled else { return }
        let (entry, size) = (Entry(content), size + target.count)
        index.withLock { index in
            if let old = index.entries[key] {
                removeTarget(old.target, of: old.entry)
                index.size -= old.size
            } else {
                index.order.append(key)
            }
            index.entries[key] = (entry, target, size)
            index.size += size
            addTarget(target, of: entry)
            while index.size > capacity, let key = index.order.popFirst() {
                if index.entries[key]?.entry.isReferenced.exchange(false, ordering: .relaxed) == true {
                    index.order.append(key)
                } else {
                    remove(key, from: &index)
                }
            }
        }
    }

    func removeAll(where isGone: (Content) -> Bool) {
        index.withLock { index in
            let gone = index.entries.filter { _, found in found.entry.content.withLock { isGone($0) } }
            guard !gone.isEmpty else { return }
            for key in gone.keys { remove(key, from: &index) }
            index.order.removeAll { gone[$0] != nil }
        }
    }

    private func remove(_ key: Key, from index: inout Index) {
        guard let old = index.entries.removeValue(forKey: key) else { return }
        index.size -= old.size
        removeTarget(old.target, of: old.entry)
    }

    private func addTarget(_ target: [UInt8], of entry: Entry) {
        let hash = RequestHead.hash(ofTarget: target)
        shard(hash).targets.withLock { $0[hash] = (target, entry) }
    }

    private func removeTarget(_ target: [UInt8], of entry: Entry) {
        let hash = RequestHead.hash(ofTarget: target)
        shard(hash).targets.withLock { targets in
            if targets[hash]?.entry === entry { targets[hash] = nil }
        }
    }
}
