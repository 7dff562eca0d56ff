internal import IntertwineFeed
internal import IntertwineStorageCore

struct PostgresLedgerGroup {
    private let entries: [LedgerEntry]
    private let keys: [[RateCounterKeys]]
    private let lockStripes: AdvisoryLockStripes
    private var group = LedgerGroup()
    private let counters: RateCounters
    let days: Set<Int64>

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

    var readsLog: Bool { !lockStripes.isEmpty }

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
        let campaigns = group.book.locks
        if !campaigns.isEmpty {
            locks.append(
                SQLCommand(
                    "SELECT pg_advisory_xact_lock($1::int, number::int) FROM unnest($2) AS number",
                    [.integer(PostgresLedgerSchema.lockClass), .integers(campaigns.map { PostgresLedgerSchema.Lock.campaign + $0 })]))
        }
        return locks
    }

    /// The advisory locks must be taken before.
    var questions: [SQLCommand] { counters.questions(.postgres) + group.questions(.postgres) }

    mutating func apply(_ answers: ArraySlice<PostgresRows>) {
        let own = counters.questions(.postgres).count
        for rows in answers.prefix(own) { rows.forEach { counters.apply($0) } }
        for (question, rows) in answers.dropFirst(own).enumerated() { rows.forEach { group.apply($0, of: question) } }
    }

    mutating func decide(
        at now: Int64, _ rollups: inout Rollups, _ limiter: inout PendingRollup, isLate: (Int) -> Bool
    ) -> [Result<LedgerReceipt, any Error>] {
        entries.indices.map { index in
            if isLate(index) { return .failure(StoreError.late) }
            return group.decide(entries[index], keys[index], at: now, counters, &rollups, &limiter)
        }
    }

    // MARK: Writes

    func commands(at now: Int64) -> [SQLCommand] {
        counters.commands(.postgres) + group.statements(.postgres)
            + group.changes.flatMap { $0.mutation.statements(until: $0.until, now: now, .postgres) }
            + [group.eventInsertion(.postgres)].compactMap(\.self)
    }
}

extension ListMutation {
    fileprivate var viewer: String {
        switch self {
        case .add(_, let viewer, _, _, _), .remove(_, let viewer, _, _, _), .revert(_, let viewer, _, _): viewer
        }
    }
}
