import GRDB
import IntertwineFeed

/// Decides whether an event still counts: the first of its duplicates, and within its rates.
///
/// A rate's window begins with the first event that counts and ends for all of its events together. Events that do not count use nothing up:
/// whoever is over a limit is not kept over it by trying. A window that ends later than one that begins now began while the clock was ahead:
/// it is over. What a group of units uses is gathered, and written once before the group is committed: many share an address.
///
/// What an event uses up if it counts is mostly new: another viewer, another token. So it is put there before anybody knows, which tells in one
/// walk down the tree whether it was there, and is taken away again from events that do not count after all.
struct AllowanceTable {
    /// What an allowance is for. The table has both, each key behind a letter of its own.
    private struct Key: Hashable {
        enum Purpose {
            case repetition, rate

            var letter: StaticString { self == .repetition ? "d:" : "r:" }
        }

        var purpose: Purpose
        var text: ExactText

        static func repetition(_ text: String) -> Key { Key(purpose: .repetition, text: ExactText(text)) }
        static func rate(_ text: String) -> Key { Key(purpose: .rate, text: ExactText(text)) }

        /// Runs a statement whose first parameter is the key.
        func with(_ statement: SQLStatement, _ run: (SQLStatement) throws -> Void) throws {
            try statement.with(1, text.text, behind: purpose.letter) { try run(statement) }
        }
    }

    private struct Allowance {
        var until: Int64
        var used: Int64
        var change = Change.none
        /// When the window ends with which the row was put there, used once, before anybody knew whether the event counts.
        var claimed: Int64?
    }

    private enum Change {
        case none
        /// Used within the window that stands in the table.
        case used
        /// Another window began.
        case began
    }

    /// What the group has asked for, each under its number: a key is looked up once for all that an event does with it.
    private var known: [(key: Key, allowance: Allowance)] = []
    private var numbers: [Key: Int] = [:]
    /// The longest window of the events so far.
    private(set) var longestWindow: Int64 = 0
    private let find: SQLStatement
    private let claim: SQLStatement
    private let insert: SQLStatement
    private let update: SQLStatement
    private let remove: SQLStatement

    init(_ database: Database) throws {
        find = try SQLStatement(database, "SELECT until, used FROM allowance WHERE key = ?")
        claim = try SQLStatement(database, "INSERT INTO allowance (key, until, used) VALUES (?1, ?2, 1) ON CONFLICT (key) DO NOTHING")
        remove = try SQLStatement(database, "DELETE FROM allowance WHERE key = ?1")
        insert = try SQLStatement(
            database,
            "INSERT INTO allowance (key, until, used) VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE SET until = ?2, used = ?3")
        update = try SQLStatement(database, "UPDATE allowance SET used = ?3 WHERE key = ?1")
    }

    mutating func verdict(on event: LedgerEvent) throws -> Verdict {
        let moment = event.at
        if let duplicates = event.deduplication {
            for key in duplicates.repeats {
                let isOwn = duplicates.keys.contains { ExactText($0) == ExactText(key) }
                let number = try isOwn ? claimed(.repetition(key), at: moment, window: duplicates.window) : read(.repetition(key))
                if used(number, at: moment, window: duplicates.window) > 0 { return .duplicate }
            }
        }
        if let required = event.requirement,
            try !required.repeats.contains(where: { try used(read(.repetition($0)), at: moment, window: required.window) > 0 })
        {
            return .unseen
        }
        let rates = try event.rates.map { try claimed(.rate($0.key), at: moment, window: $0.window) }
        for (rate, number) in zip(event.rates, rates) where used(number, at: moment, window: rate.window) >= rate.limit { return .limited }
        if let duplicates = event.deduplication {
            for key in duplicates.keys { begin(number(of: .repetition(key)).number, at: moment, window: duplicates.window) }
        }
        for (rate, number) in zip(event.rates, rates) { use(number, at: moment, window: rate.window) }
        return .counted
    }

    /// The last thing before the group is committed.
    ///
    /// - Returns: rows that were put there and taken away again.
    mutating func write() throws -> Int {
        var removed = 0
        for (key, allowance) in known {
            switch allowance.change {
            case .none:
                guard allowance.claimed != nil else { continue }
                removed += 1
                try key.with(remove) { try $0.run() }
            case .began where allowance.claimed == allowance.until && allowance.used == 1: continue
            case .began:
                try key.with(insert) { insert in
                    try insert.bind(2, allowance.until)
                    try insert.bind(3, allowance.used)
                    try insert.run()
                }
            case .used:
                try key.with(update) { update in
                    try update.bind(3, allowance.used)
                    try update.run()
                }
            }
        }
        discard()
        return removed
    }

    /// Another process may write between two groups, so nothing is remembered for longer.
    mutating func discard() {
        known.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
    }

    /// The number of a key, which it is given here where it has none.
    private mutating func number(of key: Key) -> (number: Int, isNew: Bool) {
        // Looked up and put there in one: reading the default alone would not put it there.
        func kept(_ number: inout Int) -> Int { number }
        let next = known.count
        let number = kept(&numbers[key, default: next])
        if number == next { known.append((key, Allowance(until: .min, used: 0))) }
        return (number, number == next)
    }

    /// The number of a key, of which it is known what stands in the table.
    private mutating func read(_ key: Key) throws -> Int {
        let (number, isNew) = number(of: key)
        if isNew { try find(key, number) }
        return number
    }

    /// The same of a key that is used if the event counts: where there was none in the table, it stands there now.
    private mutating func claimed(_ key: Key, at moment: Int64, window: Int64) throws -> Int {
        let (number, isNew) = number(of: key)
        guard isNew else { return number }
        let until = Self.end(of: window, from: moment)
        var isFree = false
        try key.with(claim) { claim in
            try claim.bind(2, until)
            try claim.run()
            isFree = claim.changes > 0
        }
        if isFree { known[number].allowance.claimed = until } else { try find(key, number) }
        return number
    }

    private mutating func find(_ key: Key, _ number: Int) throws {
        try key.with(find) { find in
            defer { find.reset() }
            if try find.step() { known[number].allowance = Allowance(until: find.integer(0), used: find.integer(1)) }
        }
    }

    private mutating func used(_ number: Int, at moment: Int64, window: Int64) -> Int64 {
        longestWindow = max(longestWindow, window)
        let allowance = known[number].allowance
        return Self.stands(allowance, at: moment, window: window) ? allowance.used : 0
    }

    private static func stands(_ allowance: Allowance, at moment: Int64, window: Int64) -> Bool {
        allowance.until > moment && allowance.until <= LedgerTime.latestEnd(at: moment, window: window)
    }

    private mutating func use(_ number: Int, at moment: Int64, window: Int64) {
        let allowance = known[number].allowance
        guard Self.stands(allowance, at: moment, window: window) else { return begin(number, at: moment, window: window) }
        known[number].allowance.used = allowance.used &+ 1
        if allowance.change != .began { known[number].allowance.change = .used }
    }

    private mutating func begin(_ number: Int, at moment: Int64, window: Int64) {
        known[number].allowance.until = Self.end(of: window, from: moment)
        known[number].allowance.used = 1
        known[number].allowance.change = .began
    }

    private static func end(of window: Int64, from moment: Int64) -> Int64 {
        let (until, isEndless) = moment.addingReportingOverflow(window)
        return isEndless ? .max : until
    }
}
