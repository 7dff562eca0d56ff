internal import IntertwineFeed
internal import IntertwineStorageCore

/// A group of units with the locks, the look-ups and the rows that it needs in a shared database.
struct PostgresLedgerGroup {
    private let entries: [LedgerEntry]
    private let keys: [[RateCounterKeys]]
    private let lockStripes: AdvisoryLockStripes
    private var group = LedgerGroup()
    private var counters: RateCounterDecisions
    var mode: SharedRateCounters.Mode { counters.mode }
    let longestWindow: Int64
    let days: Set<Int64>
    let guesses: Bool
    /// True if a decision relies on such a key, and no write would show an error.
    var isUnsure: Bool { counters.isUnsure }

    init(_ entries: [LedgerEntry], recent: SeenKeyFilter?, _ shared: SharedRateCounters, _ mode: SharedRateCounters.Mode) {
        self.entries = entries
        keys = entries.map { $0.events.map { $0.verdict == .counted ? RateCounterKeys($0) : .none } }
        var (requestedKeys, guesses, stripes) = (Set<RateCounterKey>(), false, AdvisoryLockStripes())
        for (entry, keys) in zip(entries, keys) {
            group.ask(for: entry)
            for (event, keys) in zip(entry.events, keys) {
                keys.forEach(event) { key, window, isRecorded in
                    let isShort = SharedRateCounters.isShort(window)
                    if isShort { stripes.insert(key) }
                    guard !isShort || mode.readsTable else { return }
                    // The primary key of the table shows a wrong guess when the key is written.
                    let isWritten = isRecorded && (!isShort || mode.writesTable)
                    if isWritten, let recent, recent.isNew(key) { guesses = true } else { requestedKeys.insert(key) }
                }
            }
        }
        self.guesses = guesses
        self.lockStripes = stripes
        counters = RateCounterDecisions(requestedKeys: requestedKeys, shared, mode)
        let events = entries.lazy.flatMap(\.events)
        longestWindow =
            events.map { event in
                max(event.deduplication?.window ?? 0, event.requiredPriorEvent?.window ?? 0, event.rates.map(\.window).max() ?? 0)
            }.max() ?? 0
        days = Set(events.map { LedgerTime.day(of: $0.at) })
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
        return locks
    }

    /// The advisory locks must be taken before.
    var questions: [SQLCommand] { counters.questions + group.questions(.postgres) }

    mutating func apply(_ answers: ArraySlice<PostgresRows>) {
        let own = counters.questions.count
        for rows in answers.prefix(own) { counters.apply(rows) }
        for (question, rows) in answers.dropFirst(own).enumerated() { rows.forEach { group.apply($0, of: question) } }
    }

    mutating func decide(
        at now: Int64, _ rollups: inout Rollups, _ limiter: inout PendingRollup, isLate: (Int) -> Bool
    ) throws -> [Result<LedgerReceipt, any Error>] {
        try entries.indices.map { index in
            if isLate(index) { return .failure(StoreError.late) }
            return try group.decide(entries[index], keys[index], at: now, &counters, &rollups, &limiter)
        }
    }

    // MARK: Writes

    var storedKeys: some Sequence<RateCounterKey> { counters.storedKeys }

    func commands(at now: Int64) -> [SQLCommand] {
        counters.commands + group.statements(.postgres)
            + group.changes.flatMap { $0.mutation.statements(until: $0.until, now: now, .postgres) }
            + eventCommands
    }

    /// One by one: `unnest` of all together gathers the rows first, which costs a fifth more.
    private static let columns = (1...15).map { "unnest($\($0))" }.joined(separator: ", ")

    private var eventCommands: [SQLCommand] {
        let events = group.events
        guard !events.isEmpty else { return [] }
        func texts(_ value: (LedgerEvent) -> String?) -> SQLValue { .texts(events.map { value($0.event) }) }
        return [
            SQLCommand(
                """
                INSERT INTO event (
                    at, kind, cell, viewer, address, user_agent, verdict, campaign, feed, section, position, layout, creative, advertiser,
                    input)
                SELECT \(Self.columns)
                """,
                [
                    .integers(events.map(\.event.at)), texts(\.kind.rawValue), texts(\.cell), texts(\.viewer), texts(\.address),
                    texts(\.userAgent), .texts(events.map(\.verdict.rawValue)), texts(\.showing?.campaign), texts(\.page?.feed),
                    texts(\.page?.section), .integers(events.map { ($0.event.page?.position).map(Int64.init) }),
                    texts(\.page?.layout.rawValue), texts(\.creative?.form), texts(\.creative?.advertiser),
                    texts(\.input?.json),
                ])
        ]
    }
}

extension RateCounterKeys {
    static let none = RateCounterKeys(LedgerEvent(at: 0, kind: .impression, cell: ""))
}

extension ListMutation {
    fileprivate var viewer: String {
        switch self {
        case .add(_, let viewer, _, _, _), .remove(_, let viewer, _, _, _), .revert(_, let viewer, _, _): viewer
        }
    }
}
