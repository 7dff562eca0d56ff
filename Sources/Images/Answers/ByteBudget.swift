internal import Synchronization

/// Bytes that all downloads together may hold in memory, slow readers' unread ones too.
final class ByteBudget: Sendable {
    let limit: Int
    private let used = Atomic<Int>(0)

    init(limit: Int) {
        self.limit = limit
    }

    var inUse: Int { used.load(ordering: .relaxed) }

    func take(_ bytes: Int) -> Bool {
        if used.add(bytes, ordering: .relaxed).newValue <= limit { return true }
        used.subtract(bytes, ordering: .relaxed)
        return false
    }

    func give(back bytes: Int) {
        used.subtract(bytes, ordering: .relaxed)
    }
}
