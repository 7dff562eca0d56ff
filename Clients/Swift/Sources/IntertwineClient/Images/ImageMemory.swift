import Foundation

/// A bounded cache of recent images (LRU), so that a cell that becomes visible again shows its image at once.
struct ImageMemory {
    struct Picture {
        let data: Data
        let type: String
        fileprivate var used: Int
    }

    private let mostBytes: Int
    private var pictures: [String: Picture] = [:]
    private(set) var bytes = 0
    private var clock = 0

    init(mostBytes: Int) {
        self.mostBytes = mostBytes
    }

    mutating func picture(_ href: String) -> Picture? {
        clock += 1
        pictures[href]?.used = clock
        return pictures[href]
    }

    mutating func keep(_ data: Data, type: String, for href: String) {
        guard data.count <= mostBytes / 4 else { return }
        clock += 1
        if let old = pictures.updateValue(Picture(data: data, type: type, used: clock), forKey: href) { bytes -= old.data.count }
        bytes += data.count
        guard bytes > mostBytes else { return }
        // Evicts down to three quarters at once, so that not every insertion sorts all images.
        for (href, picture) in pictures.sorted(by: { $0.value.used < $1.value.used }) where bytes > mostBytes / 4 * 3 {
            pictures.removeValue(forKey: href)
            bytes -= picture.data.count
        }
    }

    mutating func removeAll() {
        pictures = [:]
        bytes = 0
    }
}
