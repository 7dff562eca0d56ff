internal import IntertwineFeed
internal import IntertwineStorage

extension AllowanceKey {
    /// Four numbers below 2³², as good as random.
    var marks: InlineArray<4, Int> {
        [Int(high >> 32), Int(UInt32(truncatingIfNeeded: high)), Int(low >> 32), Int(UInt32(truncatingIfNeeded: low))]
    }
}

extension AllowanceKeys {
    /// Has `body` see each key, and whether the event leaves it behind if it counts; the others are only looked at.
    func forEach(_ body: (AllowanceKey, _ isLeft: Bool) -> Void) {
        for key in repeats where !leaves.contains(key) { body(key, false) }
        for key in required { body(key, false) }
        for key in leaves { body(key, true) }
        for key in rates { body(key, true) }
    }
}

/// Decides whether an event still counts, as `AllowanceTable` does for SQLite: the first of its duplicates, and within its rates.
///
/// It is filled with what the database has of a group's keys, or is foreseen to have, and gives back what becomes of them.
struct AllowanceBook {
    /// An allowance as it stands in the table.
    struct Row {
        var until: Int64
        var used: Int64
    }

    private struct Allowance {
        var until: Int64
        var used: Int64
        /// Whether a row is there, which this transaction has locked.
        var isKept: Bool
        var isChanged = false
    }

    private var allowances: [AllowanceKey: Allowance] = [:]
    /// What the database was asked for. All others are taken for new.
    let asked: Set<AllowanceKey>
    /// What it answers, where that is known beforehand.
    private let foreseen: [AllowanceKey: Row?]?

    /// - Parameter foreseen: of all that is asked.
    init(asked: Set<AllowanceKey>, foreseen: [AllowanceKey: Row?]? = nil) {
        (self.asked, self.foreseen) = (asked, foreseen)
        for case (let key, let row?) in foreseen ?? [:] { keep(key, row) }
    }

    /// Finds and locks the rows of what is asked. Where they are foreseen it fails instead of answering, as a division by zero (``isRefuted(by:)``),
    /// unless they stand as that.
    var question: PostgresCommand? {
        guard !asked.isEmpty else { return nil }
        let keys = asked.sorted()
        let find = "SELECT key, until, used FROM allowance WHERE key = ANY ($1) ORDER BY key FOR UPDATE"
        guard let foreseen else { return PostgresCommand(find, [.blobs(keys.map(\.bytes))]) }
        let rows = keys.map { foreseen[$0] ?? nil }
        return PostgresCommand(
            """
            WITH kept AS MATERIALIZED (\(find))
            SELECT 1 / (count(*) = 0)::int FROM unnest($1, $2, $3) AS foreseen (key, until, used) LEFT JOIN kept ON kept.key = foreseen.key
            WHERE kept.until IS DISTINCT FROM foreseen.until OR kept.used IS DISTINCT FROM foreseen.used
            """, [.blobs(keys.map(\.bytes)), .integers(rows.map { $0?.until }), .integers(rows.map { $0?.used })])
    }

    /// Whether a group failed because something stands otherwise than was foreseen.
    static func isRefuted(by error: PostgresError) -> Bool { error.code == "22012" }

    /// Whether something was decided by a key that was taken for new, and that is not written either, which would show whether it is.
    func isGuess(_ keys: AllowanceKeys) -> Bool {
        var isGuess = false
        keys.forEach { key, _ in isGuess = isGuess || !asked.contains(key) && allowances[key] == nil }
        return isGuess
    }

    /// Tells how each stands once the group is committed; nil where there is no row.
    func forEach(_ body: (AllowanceKey, Row?) -> Void) {
        for (key, allowance) in allowances { body(key, Row(until: allowance.until, used: allowance.used)) }
        for key in asked where allowances[key] == nil { body(key, nil) }
    }

    mutating func keep(_ key: AllowanceKey, _ row: Row) {
        allowances[key] = Allowance(until: row.until, used: row.used, isKept: true)
    }

    mutating func verdict(on event: LedgerEvent, _ keys: AllowanceKeys) -> Verdict {
        if let duplicates = event.deduplication {
            for key in keys.repeats where used(key, at: event.at, window: duplicates.window) > 0 { return .duplicate }
        }
        if let required = event.requirement, !keys.required.contains(where: { used($0, at: event.at, window: required.window) > 0 }) {
            return .unseen
        }
        for (rate, key) in zip(event.rates, keys.rates) where used(key, at: event.at, window: rate.window) >= rate.limit { return .limited }
        if let duplicates = event.deduplication {
            for key in keys.leaves { begin(key, at: event.at, window: duplicates.window) }
        }
        for (rate, key) in zip(event.rates, keys.rates) {
            if var allowance = allowances[key], Self.stands(allowance, at: event.at, window: rate.window) {
                allowance.used &+= 1
                allowance.isChanged = true
                allowances[key] = allowance
            } else {
                begin(key, at: event.at, window: rate.window)
            }
        }
        return .counted
    }

    private func used(_ key: AllowanceKey, at moment: Int64, window: Int64) -> Int64 {
        guard let allowance = allowances[key], Self.stands(allowance, at: moment, window: window) else { return 0 }
        return allowance.used
    }

    private static func stands(_ allowance: Allowance, at moment: Int64, window: Int64) -> Bool {
        allowance.until > moment && allowance.until <= LedgerTime.latestEnd(at: moment, window: window)
    }

    private mutating func begin(_ key: AllowanceKey, at moment: Int64, window: Int64) {
        let (until, isEndless) = moment.addingReportingOverflow(window)
        allowances[key] = Allowance(
            until: isEndless ? .max : until, used: 1, isKept: allowances[key]?.isKept ?? false, isChanged: true)
    }

    /// What has to be written, in the order of the keys.
    var commands: [PostgresCommand] {
        let changed = allowances.filter(\.value.isChanged).sorted { $0.key < $1.key }
        return [
            (
                changed.filter(\.value.isKept),
                """
                UPDATE allowance SET until = new.until, used = new.used
                FROM unnest($1, $2, $3) AS new (key, until, used) WHERE allowance.key = new.key
                """
            ), (changed.filter { !$0.value.isKept }, "INSERT INTO allowance (key, until, used) SELECT * FROM unnest($1, $2, $3)"),
        ].compactMap { rows, sql in
            guard !rows.isEmpty else { return nil }
            return PostgresCommand(
                sql, [.blobs(rows.map(\.key.bytes)), .integers(rows.map(\.value.until)), .integers(rows.map(\.value.used))])
        }
    }
}
