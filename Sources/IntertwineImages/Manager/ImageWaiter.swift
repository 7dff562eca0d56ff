internal import FoundationEssentials

typealias ImageReply = @Sendable (ImageResponse) -> Void

struct ImageWaiter {
    var request: ImageRequest
    let isCollapsed: Bool
    var reply: ImageReply?
    var onLeave: @Sendable () -> Void = {}
}

struct WaiterTable<Work> {
    private var work: [UInt64: Work] = [:]
    private var names: [UInt64: UUID] = [:]
    private var named: [UUID: Set<UInt64>] = [:]

    var count: Int { work.count }

    func work(of waiter: UInt64) -> Work? { work[waiter] }

    func waiters(named id: UUID) -> Set<UInt64> { named[id] ?? [] }

    mutating func add(_ waiter: UInt64, to work: Work, named id: UUID?) {
        self.work[waiter] = work
        guard let id else { return }
        names[waiter] = id
        named[id, default: []].insert(waiter)
    }

    mutating func remove(_ waiter: UInt64) -> Work? {
        if let id = names.removeValue(forKey: waiter) {
            named[id]?.remove(waiter)
            if named[id]?.isEmpty == true { named[id] = nil }
        }
        return work.removeValue(forKey: waiter)
    }
}
