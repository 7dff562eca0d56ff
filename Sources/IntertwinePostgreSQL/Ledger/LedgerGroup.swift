internal import IntertwineFeed
internal import IntertwineStorageCore

/// A group of units of work that share one transaction, from its queries to its writes. It does no I/O.
///
/// 1. ``questions`` finds and locks the rows that the units depend on, in one round trip.
/// 2. ``apply(_:)`` stores the results; ``decide(at:_:_:_:isLate:)`` decides each unit as if the units before it were already written.
/// 3. ``commands`` write the decisions, in a second round trip with the commit.
///
/// If a key that the group treated as new was written by another replica, the key conflicts. The group is then rolled back and retried.
struct LedgerGroup {
    private struct StoredKey: Hashable {
        var scope: ByteString
        var key: ByteString
    }

    private struct StoredResponseRow {
        var fingerprint: ByteString
        var response: [UInt8]
        var expires: Int64
        var owner: String?
        var isStored = true
        var isChanged = false
    }

    private struct StoredCommandRecord {
        var expires: Int64
        var undoneAt: Int64?
        var isChanged = false
    }

    private struct Exposure: Hashable {
        var viewer: ByteString
        var campaign: ByteString
        var at: Int64
    }

    private struct Seen {
        var count: Int64
        var until: Int64
    }

    private let entries: [LedgerEntry]
    /// The server's time when the units are decided.
    private var now: Int64 = .min
    /// For each unit, those of its events.
    private let keys: [[RateCounterKeys]]
    /// The lock stripes of the group's short windows.
    private let lockStripes: AdvisoryLockStripes
    /// The keys to look up: idempotency keys, selections, and the keys of ``RateCounterDecisions``.
    private let lookups: (responseKeys: [(scope: String, key: String)], selections: [String])
    private var allowances: RateCounterDecisions
    /// The location where the group reads and writes short windows.
    var mode: SharedRateCounters.Mode { allowances.mode }
    private var responses: [StoredKey: StoredResponseRow] = [:]
    private var selections: [ByteString: StoredCommandRecord] = [:]
    private var inserted: [CommandRecord] = []
    private var changes: [SQLCommand] = []
    private var events: [(event: LedgerEvent, verdict: Verdict)] = []
    private var exposures: [Exposure: Seen] = [:]
    /// The longest window of the events.
    let longestWindow: Int64
    /// Days of the events, which need a partition.
    let days: Set<Int64>
    /// Keys were taken for new.
    let guesses: Bool
    /// Something was decided by that which cannot be written without knowing.
    private(set) var isUnsure = false

    /// - Parameters:
    ///   - recent: A filter of known keys; keys that it does not contain are not looked up in the table. nil: all keys are looked up.
    ///   - mode: The storage of short windows.
    init(_ entries: [LedgerEntry], recent: SeenKeyFilter?, _ mode: SharedRateCounters.Mode) {
        self.entries = entries
        keys = entries.map { $0.events.map { $0.verdict == .counted ? RateCounterKeys($0) : .none } }
        var (requestedKeys, guesses, stripes) = (Set<RateCounterKey>(), false, AdvisoryLockStripes())
        for (entry, keys) in zip(entries, keys) {
            for (event, keys) in zip(entry.events, keys) {
                keys.forEach(event) { key, window, isRecorded in
                    let isShort = SharedRateCounters.isShort(window)
                    if isShort { stripes.insert(key) }
                    guard !isShort || mode.readsTable else { return }
                    // The table itself holds to a guess, where it is written.
                    let isWritten = isRecorded && (!isShort || mode.writesTable)
                    if isWritten, let recent, recent.isNew(key) { guesses = true } else { requestedKeys.insert(key) }
                }
            }
        }
        self.guesses = guesses
        self.lockStripes = stripes
        allowances = RateCounterDecisions(requestedKeys: requestedKeys, mode)
        lookups = (
            entries.compactMap { $0.idempotency?.key }.flatMap { key in
                [key.scope, key.formerScope].compactMap(\.self).map { (scope: $0, key: key.key) }
            }, entries.flatMap { [$0.selection?.id, $0.undoes].compactMap(\.self) }
        )
        let events = entries.lazy.flatMap(\.events)
        longestWindow =
            events.map { event in
                max(event.deduplication?.window ?? 0, event.requiredPriorEvent?.window ?? 0, event.rates.map(\.window).max() ?? 0)
            }.max() ?? 0
        days = Set(events.map { LedgerTime.day(of: $0.at) })
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
        let allowances = lockStripes.locks
        if let allowances { locks.append(allowances.all) }
        let viewers = Set(entries.lazy.flatMap(\.changes).map { PostgresLedgerSchema.Lock.of($0.viewer) }).sorted()
        if !viewers.isEmpty {
            locks.append(
                SQLCommand(
                    "SELECT pg_advisory_xact_lock($1::int, number::int) FROM unnest($2) AS number",
                    [.integer(PostgresLedgerSchema.lockClass), .integers(viewers)]))
        }
        if let each = allowances?.each { locks.append(each) }
        return locks
    }

    /// Finds, and locks, rows; for who has the locks.
    var questions: [SQLCommand] {
        var questions: [SQLCommand] = []
        if !allowances.requestedKeys.isEmpty {
            questions.append(
                SQLCommand(
                    "SELECT key, until, used FROM allowance WHERE key = ANY ($1) ORDER BY key FOR UPDATE",
                    [.blobs(allowances.requestedKeys.sorted().map(\.bytes))]))
        }
        if !lookups.responseKeys.isEmpty {
            questions.append(
                SQLCommand(
                    """
                    SELECT scope, key, fingerprint, answer, expires, owner FROM idempotency
                    WHERE (scope, key) IN (SELECT * FROM unnest($1, $2)) ORDER BY scope, key FOR UPDATE OF idempotency
                    """, [.texts(lookups.responseKeys.map(\.scope)), .texts(lookups.responseKeys.map(\.key))]))
        }
        if !lookups.selections.isEmpty {
            questions.append(
                SQLCommand(
                    "SELECT id, expires, undone_at FROM selection WHERE id = ANY ($1) ORDER BY id FOR UPDATE",
                    [.texts(lookups.selections)]))
        }
        return questions
    }

    /// - Parameter rows: The results of all reads of the group, after those of earlier statements.
    mutating func apply(_ rows: [PostgresRows]) {
        var rest = rows
        if !lookups.selections.isEmpty, let selected = rest.popLast() { applySelections(selected) }
        if !lookups.responseKeys.isEmpty, let responseRows = rest.popLast() { applyResponses(responseRows) }
        if !allowances.requestedKeys.isEmpty, let stored = rest.popLast() { applyCounters(stored) }
    }

    private mutating func applyCounters(_ stored: PostgresRows) {
        for row in 0..<stored.count {
            guard let key = RateCounterKey(stored.view(row, 0)) else { continue }
            allowances.store(key, until: stored.integer(row, 1), used: stored.integer(row, 2))
        }
    }

    private mutating func applyResponses(_ responseRows: PostgresRows) {
        for row in 0..<responseRows.count {
            let key = StoredKey(scope: ByteString(responseRows.text(row, 0)), key: ByteString(responseRows.text(row, 1)))
            responses[key] = StoredResponseRow(
                fingerprint: ByteString(responseRows.text(row, 2)), response: responseRows.bytes(row, 3),
                expires: responseRows.integer(row, 4),
                owner: responseRows.optionalText(row, 5))
        }
    }

    private mutating func applySelections(_ selected: PostgresRows) {
        for row in 0..<selected.count {
            selections[ByteString(selected.text(row, 0))] = StoredCommandRecord(
                expires: selected.integer(row, 1), undoneAt: selected.optionalInteger(row, 2))
        }
    }

    // MARK: Decisions

    /// Decides the outcome of each unit. A unit that cannot be written fails alone, and nothing of it is stored.
    ///
    /// - Parameters:
    ///   - now: The server's time.
    ///   - isLate: Returns true if the timeout of the unit at an index is over.
    /// - Returns: The outcomes, in the order of the units.
    mutating func decide(
        at now: Int64, _ shared: inout SharedRateCounters, _ rollups: inout RollupDeltas, _ uncounted: inout PendingRollup,
        isLate: (Int) -> Bool
    ) -> [Result<LedgerReceipt, any Error>] {
        self.now = now
        return entries.indices.map { index in
            if isLate(index) { return .failure(StoreError.late) }
            return decide(entries[index], keys[index], &shared, &rollups, &uncounted)
        }
    }

    private mutating func decide(
        _ entry: LedgerEntry, _ keys: [RateCounterKeys], _ shared: inout SharedRateCounters, _ rollups: inout RollupDeltas,
        _ uncounted: inout PendingRollup
    ) -> Result<LedgerReceipt, any Error> {
        if let key = entry.idempotency?.key, let receipt = receipt(of: key, delay: entry.delay(until: now)) { return .success(receipt) }
        if let selection = entry.selection, selections[ByteString(selection.id)] != nil {
            return .failure(StoreError.unavailable("a selection of the id is there"))
        }
        if let id = entry.undoes {
            guard var selection = selections[ByteString(id)] else { return .success(.expired) }
            guard selection.undoneAt == nil else { return .success(.alreadyUndone) }
            guard selection.expires > now else { return .success(.expired) }
            (selection.undoneAt, selection.isChanged) = (now, true)
            selections[ByteString(id)] = selection
        }
        if let selection = entry.selection {
            inserted.append(selection)
            selections[ByteString(selection.id)] = StoredCommandRecord(expires: selection.expires)
        }
        for change in entry.changes { changes += change.commands(until: entry.selection?.expires ?? now, now: now) }
        var verdicts: [Verdict] = []
        for (event, keys) in zip(entry.events, keys) {
            let verdict = event.verdict == .counted ? allowances.verdict(on: event, keys, committedAt: now, &shared) : event.verdict
            if verdict != .counted, event.verdict == .counted, allowances.isGuess(event, keys, committedAt: now, shared) { isUnsure = true }
            rollups.count(event, as: verdict, mayDefer: PendingRollup.mayDefer(event, as: verdict))
            verdicts.append(verdict)
            guard verdict == .counted || uncounted.accepts(event, as: verdict) else { continue }
            events.append((event, verdict))
            if verdict == .counted { remember(event) }
        }
        for (refused, count) in entry.refused { rollups.count(refused.event(at: now), as: refused.reason, Int64(count), mayDefer: true) }
        if let (key, makeResponse) = entry.idempotency, let stored = makeResponse(verdicts) {
            let storedKey = StoredKey(scope: ByteString(key.scope), key: ByteString(key.key))
            responses[storedKey] = StoredResponseRow(
                fingerprint: ByteString(key.fingerprint), response: stored, expires: key.expires, owner: key.owner,
                isStored: responses[storedKey]?.isStored ?? false, isChanged: true)
        }
        return .success(.committed(verdicts))
    }

    /// - Parameter delay: milliseconds since the request.
    private func receipt(of key: IdempotencyKey, delay: Int64) -> LedgerReceipt? {
        for scope in [key.scope, key.formerScope].compactMap(\.self) {
            guard let stored = responses[StoredKey(scope: ByteString(scope), key: ByteString(key.key))], stored.expires > now,
                // A response that expires later than a new one would was stored by a fast clock.
                stored.expires <= LedgerTime.latestEnd(at: key.expires, window: delay)
            else { continue }
            return stored.fingerprint == ByteString(key.fingerprint) ? .replayed(stored.response) : .keyReused
        }
        return nil
    }

    /// Notes that a viewer saw a campaign, for as long as its caps ask for that.
    private mutating func remember(_ event: LedgerEvent) {
        guard event.kind == .impression, let showing = event.showing, let campaign = showing.campaign, showing.frequencyCapTTL > 0,
            let viewer = event.viewer
        else { return }
        let until = LedgerTime.latestEnd(
            at: event.at, window: Int64(showing.frequencyCapTTL).multipliedReportingOverflow(by: 1_000).partialValue)
        let exposure = Exposure(viewer: ByteString(viewer), campaign: ByteString(campaign), at: event.at)
        let seen = exposures[exposure] ?? Seen(count: 0, until: until)
        exposures[exposure] = Seen(count: seen.count + 1, until: max(seen.until, until))
    }

    // MARK: Writes

    /// Keys of allowances that have a row once the group is committed.
    var storedKeys: some Sequence<RateCounterKey> { allowances.storedKeys }

    /// All writes except rollups and log; empty if the group has no other write.
    var commands: [SQLCommand] {
        allowances.commands + responseCommands + selectionCommands + changes + exposureCommands + eventCommands
    }

    private var responseCommands: [SQLCommand] {
        let changed = responses.filter(\.value.isChanged).sorted {
            ($0.key.scope.text, $0.key.key.text) < ($1.key.scope.text, $1.key.key.text)
        }
        return [
            (
                changed.filter(\.value.isStored),
                """
                UPDATE idempotency AS kept
                SET fingerprint = new.fingerprint, answer = new.answer, expires = new.expires, owner = new.owner
                FROM unnest($1, $2, $3, $4, $5, $6) AS new (scope, key, fingerprint, answer, expires, owner)
                WHERE kept.scope = new.scope AND kept.key = new.key
                """
            ),
            (
                changed.filter { !$0.value.isStored },
                """
                INSERT INTO idempotency (scope, key, fingerprint, answer, expires, owner)
                SELECT * FROM unnest($1, $2, $3, $4, $5, $6)
                """
            ),
        ].compactMap { rows, sql in
            guard !rows.isEmpty else { return nil }
            return SQLCommand(
                sql,
                [
                    .texts(rows.map(\.key.scope.text)), .texts(rows.map(\.key.key.text)), .texts(rows.map(\.value.fingerprint.text)),
                    .blobs(rows.map(\.value.response)), .integers(rows.map(\.value.expires)), .texts(rows.map(\.value.owner)),
                ])
        }
    }

    private var selectionCommands: [SQLCommand] {
        var commands: [SQLCommand] = []
        if !inserted.isEmpty {
            let sorted = inserted.sorted { $0.id < $1.id }
            let steps = sorted.flatMap { record in record.steps.enumerated().map { (record.id, Int64($0.offset), $0.element) } }
            commands.append(
                SQLCommand(
                    "INSERT INTO selection (id, cell, viewer, expires) SELECT * FROM unnest($1, $2, $3, $4)",
                    [
                        .texts(sorted.map(\.id)), .texts(sorted.map(\.cell)), .texts(sorted.map(\.viewer)),
                        .integers(sorted.map(\.expires)),
                    ]))
            commands.append(
                SQLCommand(
                    "INSERT INTO selection_step (selection, number, command, undo) SELECT * FROM unnest($1, $2, $3, $4)",
                    [
                        .texts(steps.map(\.0)), .integers(steps.map(\.1)), .texts(steps.map(\.2.command)), .blobs(steps.map(\.2.undo)),
                    ]))
        }
        let undone = selections.filter(\.value.isChanged)
        if !undone.isEmpty {
            commands.append(
                SQLCommand(
                    "UPDATE selection SET undone_at = $2 WHERE id = ANY ($1)", [.texts(undone.map(\.key.text)), .integer(now)]))
        }
        return commands
    }

    private var exposureCommands: [SQLCommand] {
        guard !exposures.isEmpty else { return [] }
        let sorted = exposures.sorted {
            ($0.key.viewer.text, $0.key.campaign.text, $0.key.at) < ($1.key.viewer.text, $1.key.campaign.text, $1.key.at)
        }
        return [
            SQLCommand(
                """
                INSERT INTO exposure AS kept (viewer, campaign, at, count, until) SELECT * FROM unnest($1, $2, $3, $4, $5)
                ON CONFLICT (viewer, campaign, at)
                DO UPDATE SET count = kept.count + excluded.count, until = greatest(kept.until, excluded.until)
                """,
                [
                    .texts(sorted.map(\.key.viewer.text)), .texts(sorted.map(\.key.campaign.text)), .integers(sorted.map(\.key.at)),
                    .integers(sorted.map(\.value.count)), .integers(sorted.map(\.value.until)),
                ])
        ]
    }

    /// One by one: `unnest` of all together gathers the rows first, and that costs a fifth more.
    private static let columns = (1...15).map { "unnest($\($0))" }.joined(separator: ", ")

    private var eventCommands: [SQLCommand] {
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
    /// The keys of an event that does not count.
    static let none = RateCounterKeys(LedgerEvent(at: 0, kind: .impression, cell: ""))
}

extension ListMutation {
    /// The viewer whose lock the change needs.
    fileprivate var viewer: String {
        switch self {
        case .add(_, let viewer, _, _, _), .remove(_, let viewer, _, _, _), .revert(_, let viewer, _, _): viewer
        }
    }
}
