import Foundation

/// A bounded cache of recent images (LRU), so that a cell that becomes visible again shows its image at once.
struct ImageCache {
    struct Entry {
        let data: Data
        let type: String
        fileprivate var lastUse: Int
    }

    private let maxBytes: Int
    private var entries: [String: Entry] = [:]
    private(set) var bytes = 0
    private var clock = 0

    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    mutating func image(_ href: String) -> Entry? {
        clock += 1
        entries[href]?.lastUse = clock
        return entries[href]
    }

    mutating func store(_ data: Data, type: String, for href: String) {
        guard data.count <= maxBytes / 4 else { return }
        clock += 1
        if let old = entries.updateValue(Entry(data: data, type: type, lastUse: clock), forKey: href) { bytes -= old.data.count }
        bytes += data.count
        guard bytes > maxBytes else { return }
        // Evicts down to three quarters at once, so that not every insertion sorts all images.
        for (href, entry) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) where bytes > maxBytes / 4 * 3 {
            entries.removeValue(forKey: href)
            bytes -= entry.data.count
        }
    }

    mutating func removeAll() {
        entries = [:]
        bytes = 0
    }
}
