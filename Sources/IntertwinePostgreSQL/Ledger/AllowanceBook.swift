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
/// It is filled with what the database has of a group's keys, and gives back what becomes of them.
struct AllowanceBook {
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

    init(asked: Set<AllowanceKey>) {
        self.asked = asked
    }

    /// Whether something was decided by a key that was taken for new, and that is not written either, which would show whether it is.
    func isGuess(_ keys: AllowanceKeys) -> Bool {
        var isGuess = false
        keys.forEach { key, _ in isGuess = isGuess || !asked.contains(key) && allowances[key] == nil }
        return isGuess
    }

    /// Those that have a row now.
    var kept: some Sequence<AllowanceKey> { allowances.keys }

    mutating func keep(_ key: AllowanceKey, until: Int64, used: Int64) {
        allowances[key] = Allowance(until: until, used: used, isKept: true)
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
