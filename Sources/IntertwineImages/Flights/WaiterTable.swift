internal import FoundationEssentials

/// Who waits, where, and under which name. Pure.
struct WaiterTable<Home> {
    /// Where each waiter waits, until it has everything.
    private var homes: [UInt64: Home] = [:]
    private var names: [UInt64: UUID] = [:]
    private var named: [UUID: Set<UInt64>] = [:]

    var count: Int { homes.count }

    func home(of waiter: UInt64) -> Home? { homes[waiter] }

    /// All who have a name.
    func waiters(named id: UUID) -> Set<UInt64> { named[id] ?? [] }

    mutating func add(_ waiter: UInt64, to home: Home, named id: UUID?) {
        homes[waiter] = home
        guard let id else { return }
        names[waiter] = id
        named[id, default: []].insert(waiter)
    }

    /// It has everything, or wants nothing any more.
    mutating func remove(_ waiter: UInt64) -> Home? {
        if let id = names.removeValue(forKey: waiter) {
            named[id]?.remove(waiter)
            if named[id]?.isEmpty == true { named[id] = nil }
        }
        return homes.removeValue(forKey: waiter)
    }
}
