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

    private var known: [Key: Allowance] = [:]
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
        if let duplicates = event.deduplication {
            for key in duplicates.repeats where try used(.repetition(key), at: event.at, window: duplicates.window) > 0 {
                return .duplicate
            }
        }
        if let required = event.requirement,
            try !required.repeats.contains(where: { try used(.repetition($0), at: event.at, window: required.window) > 0 })
        {
            return .unseen
        }
        for rate in event.rates where try used(.rate(rate.key), at: event.at, window: rate.window) >= rate.limit { return .limited }
        if let duplicates = event.deduplication {
            for key in duplicates.keys { begin(.repetition(key), at: event.at, window: duplicates.window) }
        }
        for rate in event.rates { use(.rate(rate.key), at: event.at, window: rate.window) }
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
    }

    private mutating func used(_ key: Key, at moment: Int64, window: Int64) throws -> Int64 {
        longestWindow = max(longestWindow, window)
        let allowance: Allowance
        if let known = known[key] {
            allowance = known
        } else {
            defer { find.reset() }
            try key.bind(to: find)
            allowance = try find.step() ? Allowance(until: find.integer(0), used: find.integer(1)) : Allowance(until: .min, used: 0)
            known[key] = allowance
        }
        return Self.stands(allowance, at: moment, window: window) ? allowance.used : 0
    }

    private static func stands(_ allowance: Allowance, at moment: Int64, window: Int64) -> Bool {
        allowance.until > moment && allowance.until <= LedgerTime.latestEnd(at: moment, window: window)
    }

    /// To be called after ``used(_:at:window:)``.
    private mutating func use(_ key: Key, at moment: Int64, window: Int64) {
        if let allowance = known[key], Self.stands(allowance, at: moment, window: window) {
            known[key] = Allowance(
                until: allowance.until, used: allowance.used &+ 1, change: allowance.change == .began ? .began : .used)
        } else {
            begin(key, at: moment, window: window)
        }
    }

    private mutating func begin(_ key: Key, at moment: Int64, window: Int64) {
        let (until, isEndless) = moment.addingReportingOverflow(window)
        known[key] = Allowance(until: isEndless ? .max : until, used: 1, change: .began)
    }
}
