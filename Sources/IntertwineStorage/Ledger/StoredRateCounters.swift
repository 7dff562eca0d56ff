import GRDB

/// The table `allowance` in key order: rate counters of long windows, and those that exceed the memory limit for recent ones.
/// The uses of a group of units are accumulated and written once before its commit, because many units share an address.
/// Why rows are inserted before the verdict: most keys that an event uses are new, such as a new viewer or token. An insert shows in one
/// tree search whether the key exists, and is deleted again if the event does not count.
struct StoredRateCounters {
    struct RateCounter {
        fileprivate(set) var until: Int64
        fileprivate(set) var used: Int64
        fileprivate var change = Change.none
        fileprivate var claimed: Int64?
    }

    fileprivate enum Change {
        case none
        case used
        case began
    }

    private var known: [(key: RateCounterKey, allowance: RateCounter)] = []
    private var numbers: [RateCounterKey: Int] = [:]
    private let find: SQLStatement
    private let claim: SQLStatement
    private let insert: SQLStatement
    private let update: SQLStatement
    private let remove: SQLStatement

    init(_ database: Database) throws {
        find = try SQLStatement(database, "SELECT until, used FROM allowance WHERE key = ?")
        claim = try SQLStatement(database, "INSERT INTO allowance (key, until, used) VALUES (?1, ?2, 1) ON CONFLICT (key) DO NOTHING")
        remove = try SQLStatement(database, "DELETE FROM allowance WHERE key = ?1")
        insert = try SQLStatement(database, RateCounterLog.keeping)
        update = try SQLStatement(database, "UPDATE allowance SET used = ?3 WHERE key = ?1")
    }

    subscript(_ number: Int) -> RateCounter { known[number].allowance }

    mutating func use(_ number: Int) {
        known[number].allowance.used &+= 1
        if known[number].allowance.change != .began { known[number].allowance.change = .used }
    }

    mutating func begin(_ number: Int, until: Int64) {
        known[number].allowance.until = until
        known[number].allowance.used = 1
        known[number].allowance.change = .began
    }

    func store(_ key: RateCounterKey, until: Int64, used: Int64) throws {
        try run(insert, key) {
            try $0.bind(2, until)
            try $0.bind(3, used)
        }
    }

    /// Call it before the group is committed.
    mutating func write() throws -> (written: Int, removed: Int) {
        var (written, removed) = (0, 0)
        for (key, allowance) in known {
            switch allowance.change {
            case .none:
                guard allowance.claimed != nil else { continue }
                removed += 1
                try run(remove, key)
            case .began where allowance.claimed == allowance.until && allowance.used == 1: written += 1
            case .began:
                written += 1
                try store(key, until: allowance.until, used: allowance.used)
            case .used: try run(update, key) { try $0.bind(3, allowance.used) }
            }
        }
        discard()
        return (written, removed)
    }

    /// Forgets all counters at the end of a group, because another process may write before the next one.
    mutating func discard() {
        known.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
    }

    mutating func read(_ key: RateCounterKey) throws -> Int {
        let (number, isNew) = number(of: key)
        if isNew { try find(key, number) }
        return number
    }

    mutating func claimed(_ key: RateCounterKey, until: Int64) throws -> Int {
        let (number, isNew) = number(of: key)
        guard isNew else { return number }
        try run(claim, key) { try $0.bind(2, until) }
        if claim.changes > 0 { known[number].allowance.claimed = until } else { try find(key, number) }
        return number
    }

    private mutating func number(of key: RateCounterKey) -> (number: Int, isNew: Bool) {
        // The `inout` access reads and inserts in one lookup. Reading the subscript alone would not insert the default.
        func written(_ number: inout Int) -> Int { number }
        let next = known.count
        let number = written(&numbers[key, default: next])
        if number == next { known.append((key, RateCounter(until: .min, used: 0))) }
        return (number, number == next)
    }

    private mutating func find(_ key: RateCounterKey, _ number: Int) throws {
        try key.withBytes { bytes in
            try find.bind(1, lastingBlob: bytes)
            defer { find.reset() }
            if try find.step() { known[number].allowance = RateCounter(until: find.integer(0), used: find.integer(1)) }
        }
    }

    private func run(_ statement: SQLStatement, _ key: RateCounterKey, _ bind: (SQLStatement) throws -> Void = { _ in }) throws {
        try key.withBytes { bytes in
            try statement.bind(1, lastingBlob: bytes)
            try bind(statement)
            try statement.run()
        }
    }
}
