internal import IntertwineFeed
internal import IntertwineStorageCore

/// A group of units with the locks, the look-ups and the rows that it needs in a shared database.
///
/// If a key that is new to the group was written by another replica, the key conflicts. The group is then rolled back and retried.
struct PostgresLedgerGroup {
    private let entries: [LedgerEntry]
    /// For each unit, those of its events.
    private let keys: [[RateCounterKeys]]
    /// The lock stripes of the group's short windows.
    private let lockStripes: AdvisoryLockStripes
    private var group = LedgerGroup()
    private let counters: RateCounters
    /// Days of the events, which need a partition.
    let days: Set<Int64>

    /// - Parameter moment: The time that selects the location of short windows.
    init(_ entries: [LedgerEntry], _ counters: RateCounters, at moment: Int64) {
        (self.entries, self.counters) = (entries, counters)
        keys = entries.map { $0.events.map { $0.verdict == .counted ? RateCounterKeys($0) : .none } }
        var stripes = AdvisoryLockStripes()
        counters.begin(at: moment, keys: keys.reduce(0) { $1.reduce($0) { $0 + $1.storedCount } })
        for (entry, keys) in zip(entries, keys) {
            group.ask(for: entry)
            for (event, keys) in zip(entry.events, keys) {
                counters.ask(for: event, keys)
                keys.forEach(event) { key, window in if RateCounters.isShort(window) { stripes.insert(key) } }
            }
        }
        self.lockStripes = stripes
        days = Set(entries.lazy.flatMap(\.events).map { LedgerTime.day(of: $0.at) })
    }

    // MARK: Reads

    /// True if short windows decide the group.
    var readsLog: Bool { !lockStripes.isEmpty }

    /// The advisory locks, in the order of ``PostgresLedgerSchema``.
    var locks: [SQLCommand] {
        var locks: [SQLCommand] = []
        if !days.isEmpty {
            locks.append(
                SQLCommand(
                    "SELECT pg_advisory_xact_lock_shared($1::int, $2::int)",
                    [.integer(PostgresLedgerSchema.lockClass), .integer(PostgresLedgerSchema.Lock.appending)]))
        }
        let stripes = lockStripes.locks
        if let stripes { locks.append(stripes.all) }
        let viewers = Set(entries.lazy.flatMap(\.changes).map { PostgresLedgerSchema.Lock.of($0.viewer) }).sorted()
        if !viewers.isEmpty {
            locks.append(
                SQLCommand(
                    "SELECT pg_advisory_xact_lock($1::int, number::int) FROM unnest($2) AS number",
                    [.integer(PostgresLedgerSchema.lockClass), .integers(viewers)]))
        }
        if let each = stripes?.each { locks.append(each) }
        return locks
    }

    /// Finds and locks rows. The advisory locks must be taken before.
    var questions: [SQLCommand] { counters.questions(.postgres) + group.questions(.postgres) }

    /// Stores the answers to ``questions``.
    mutating func apply(_ answers: ArraySlice<PostgresRows>) {
        let own = counters.questions(.postgres).count
        for rows in answers.prefix(own) { rows.forEach { counters.apply($0) } }
        for (question, rows) in answers.dropFirst(own).enumerated() { rows.forEach { group.apply($0, of: question) } }
    }

    /// Decides the outcome of each unit. A unit that cannot be written fails alone, and nothing of it is stored.
    ///
    /// - Parameters:
    ///   - now: The server's time.
    ///   - isLate: Returns true if the timeout of the unit at an index is over.
    /// - Returns: The outcomes, in the order of the units.
    mutating func decide(
        at now: Int64, _ rollups: inout Rollups, _ limiter: inout PendingRollup, isLate: (Int) -> Bool
    ) -> [Result<LedgerReceipt, any Error>] {
        entries.indices.map { index in
            if isLate(index) { return .failure(StoreError.late) }
            return group.decide(entries[index], keys[index], at: now, counters, &rollups, &limiter)
        }
    }

    // MARK: Writes

    /// All writes except rollups and log; empty if the group has no other write.
    func commands(at now: Int64) -> [SQLCommand] {
        counters.commands(.postgres) + group.statements(.postgres)
            + group.changes.flatMap { $0.mutation.statements(until: $0.until, now: now, .postgres) }
            + [group.eventInsertion(.postgres)].compactMap(\.self)
    }
}

extension ListMutation {
    /// The viewer whose lock the change needs.
    fileprivate var viewer: String {
        switch self {
        case .add(_, let viewer, _, _, _), .remove(_, let viewer, _, _, _), .revert(_, let viewer, _, _): viewer
        }
    }
}
