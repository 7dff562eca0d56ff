import GRDB
import IntertwineFeed

/// Decides whether an event still counts: the first of its duplicates, and within its rates.
///
/// A rate's window begins with the first event that counts and ends for all of its events together. Events that do not count use nothing up:
/// whoever is over a limit is not kept over it by trying. A window that ends later than one that begins now began while the clock was ahead:
/// it is over. What a group of units uses is gathered, and written once before the group is
/// committed: many share an address.
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

        func bind(to statement: SQLStatement) throws {
            try statement.bind(1, text.text, behind: purpose.letter)
        }
    }

    private struct Allowance {
        var until: Int64
        var used: Int64
        var change = Change.none
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
    private let insert: SQLStatement
    private let update: SQLStatement

    init(_ database: Database) throws {
        find = try SQLStatement(database, "SELECT until, used FROM allowance WHERE key = ?")
        insert = try SQLStatement(
            database,
            "INSERT INTO allowance (key, until, used) VALUES (?1, ?2, ?3) ON CONFLICT (key) DO UPDATE SET until = ?2, used = ?3")
        update = try SQLStatement(database, "UPDATE allowance SET used = ?3 WHERE key = ?1")
    }

    mutating func verdict(on event: LedgerEvent) throws -> Verdict {
        let moment = event.at
        if let duplicates = event.deduplication {
            for key in duplicates.repeats where try used(read(.repetition(key)), at: moment, window: duplicates.window) > 0 {
                return .duplicate
            }
        }
        if let required = event.requirement,
            try !required.repeats.contains(where: { try used(read(.repetition($0)), at: moment, window: required.window) > 0 })
        {
            return .unseen
        }
        let rates = try event.rates.map { try read(.rate($0.key)) }
        for (rate, number) in zip(event.rates, rates) where used(number, at: moment, window: rate.window) >= rate.limit { return .limited }
        if let duplicates = event.deduplication {
            for key in duplicates.keys { begin(number(of: .repetition(key)).number, at: moment, window: duplicates.window) }
        }
        for (rate, number) in zip(event.rates, rates) { use(number, at: moment, window: rate.window) }
        return .counted
    }

    /// The last thing before the group is committed.
    mutating func write() throws {
        for (key, allowance) in known {
            let statement: SQLStatement
            switch allowance.change {
            case .none: continue
            case .used: statement = update
            case .began:
                statement = insert
                try statement.bind(2, allowance.until)
            }
            try key.bind(to: statement)
            try statement.bind(3, allowance.used)
            try statement.run()
        }
        discard()
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
        guard isNew else { return number }
        defer { find.reset() }
        try key.bind(to: find)
        if try find.step() { known[number].allowance = Allowance(until: find.integer(0), used: find.integer(1)) }
        return number
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
        known[number].allowance = Allowance(
            until: allowance.until, used: allowance.used &+ 1, change: allowance.change == .began ? .began : .used)
    }

    private mutating func begin(_ number: Int, at moment: Int64, window: Int64) {
        let (until, isEndless) = moment.addingReportingOverflow(window)
        known[number].allowance = Allowance(until: isEndless ? .max : until, used: 1, change: .began)
    }
}
