internal import FoundationEssentials

typealias ImageReply = @Sendable (ImageResponse) -> Void

/// A request that waits for a download or for a resize job.
struct ImageWaiter {
    var request: ImageRequest
    /// A Boolean value indicating that the request joined the work of another one.
    let isCollapsed: Bool
    /// The callback for the response; nil once the head was sent and the waiter reads the body.
    var reply: ImageReply?
    /// Called if the waiter stops reading its body before the end.
    var onLeave: @Sendable () -> Void = {}
}

/// A table of waiters by number and by name. The type is pure.
struct WaiterTable<Work> {
    /// The work that each waiter waits for, until it is removed.
    private var work: [UInt64: Work] = [:]
    private var names: [UInt64: UUID] = [:]
    private var named: [UUID: Set<UInt64>] = [:]

    var count: Int { work.count }

    func work(of waiter: UInt64) -> Work? { work[waiter] }

    /// Returns the waiters with this name.
    func waiters(named id: UUID) -> Set<UInt64> { named[id] ?? [] }

    mutating func add(_ waiter: UInt64, to work: Work, named id: UUID?) {
        self.work[waiter] = work
        guard let id else { return }
        names[waiter] = id
        named[id, default: []].insert(waiter)
    }

    /// Removes a waiter, and returns its work.
    mutating func remove(_ waiter: UInt64) -> Work? {
        if let id = names.removeValue(forKey: waiter) {
            named[id]?.remove(waiter)
            if named[id]?.isEmpty == true { named[id] = nil }
        }
        return work.removeValue(forKey: waiter)
    }
}
