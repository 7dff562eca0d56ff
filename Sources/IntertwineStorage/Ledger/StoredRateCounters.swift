import GRDB

/// The table `allowance`, in the order of keys: what was used of allowances that last, or had no room among the recent ones. What a group of
/// units uses is gathered, and written once before the group is committed: many share an address.
///
/// What an event uses up if it counts is mostly new: another viewer, another token. So it is put there before anybody knows, which tells in one
/// walk down the tree whether it was there, and is taken away again from events that do not count after all.
struct StoredRateCounters {
    struct RateCounter {
        fileprivate(set) var until: Int64
        fileprivate(set) var used: Int64
        fileprivate var change = Change.none
        /// When the window ends with which the row was put there, used once, before anybody knew whether the event counts.
        fileprivate var claimed: Int64?
    }

    fileprivate enum Change {
        case none
        /// Used within the window that stands in the table.
        case used
        /// Another window began.
        case began
    }

    /// What the group has asked for, each under its number: a key is looked up once for all that an event does with it.
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

    /// Puts there what another process knows.
    func store(_ key: RateCounterKey, until: Int64, used: Int64) throws {
        try run(insert, key) {
            try $0.bind(2, until)
            try $0.bind(3, used)
        }
    }

    /// The last thing before the group is committed.
    ///
    /// - Returns: rows that were put there and are new, and those that were put there and taken away again.
    mutating func write() throws -> (kept: Int, removed: Int) {
        var (kept, removed) = (0, 0)
        for (key, allowance) in known {
            switch allowance.change {
            case .none:
                guard allowance.claimed != nil else { continue }
                removed += 1
                try run(remove, key)
            case .began where allowance.claimed == allowance.until && allowance.used == 1: kept += 1
            case .began:
                kept += 1
                try store(key, until: allowance.until, used: allowance.used)
            case .used: try run(update, key) { try $0.bind(3, allowance.used) }
            }
        }
        discard()
        return (kept, removed)
    }

    /// Another process may write between two groups, so nothing is remembered for longer.
    mutating func discard() {
        known.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
    }

    /// The number of a key, of which it is known what stands in the table.
    mutating func read(_ key: RateCounterKey) throws -> Int {
        let (number, isNew) = number(of: key)
        if isNew { try find(key, number) }
        return number
    }

    /// The same of a key that is used if the event counts: where there was none in the table, it stands there now.
    mutating func claimed(_ key: RateCounterKey, until: Int64) throws -> Int {
        let (number, isNew) = number(of: key)
        guard isNew else { return number }
        try run(claim, key) { try $0.bind(2, until) }
        if claim.changes > 0 { known[number].allowance.claimed = until } else { try find(key, number) }
        return number
    }

    /// The number of a key, which it is given here where it has none.
    private mutating func number(of key: RateCounterKey) -> (number: Int, isNew: Bool) {
        // Looked up and put there in one: reading the default alone would not put it there.
        func kept(_ number: inout Int) -> Int { number }
        let next = known.count
        let number = kept(&numbers[key, default: next])
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
