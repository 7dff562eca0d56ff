internal import FoundationEssentials

/// A table of waiters by number and by name. The type is pure.
struct WaiterTable<Home> {
    /// The home of each waiter, until it is removed.
    private var homes: [UInt64: Home] = [:]
    private var names: [UInt64: UUID] = [:]
    private var named: [UUID: Set<UInt64>] = [:]

    var count: Int { homes.count }

    func home(of waiter: UInt64) -> Home? { homes[waiter] }

    /// Returns the waiters with this name.
    func waiters(named id: UUID) -> Set<UInt64> { named[id] ?? [] }

    mutating func add(_ waiter: UInt64, to home: Home, named id: UUID?) {
        homes[waiter] = home
        guard let id else { return }
        names[waiter] = id
        named[id, default: []].insert(waiter)
    }

    /// Removes a waiter, and returns its home.
    mutating func remove(_ waiter: UInt64) -> Home? {
        if let id = names.removeValue(forKey: waiter) {
            named[id]?.remove(waiter)
            if named[id]?.isEmpty == true { named[id] = nil }
        }
        return homes.removeValue(forKey: waiter)
    }
}
