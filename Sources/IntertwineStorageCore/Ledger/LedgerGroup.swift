package import IntertwineFeed

package struct LedgerGroup {
    private struct StoredKey: Hashable {
        var scope: ByteString
        var key: ByteString
    }

    private struct StoredResponse {
        var fingerprint: ByteString
        var response: [UInt8]
        var expires: Int64
        var owner: String?
        var isStored = true
        var isChanged = false
    }

    private struct Exposure: Hashable {
        var viewer: ByteString
        var campaign: ByteString
        var at: Int64
    }

    private var asked: (scopes: [String], keys: [String], selections: [String]) = ([], [], [])
    private var responses: [StoredKey: StoredResponse] = [:]
    private var selections: [ByteString: (expires: Int64, undoneAt: Int64?, isChanged: Bool)] = [:]
    private var inserted: [CommandRecord] = []
    private var exposures: [Exposure: (count: Int64, until: Int64)] = [:]
    package private(set) var book = DeliveryBook()
    private var now: Int64 = .min
    package private(set) var events: [(event: LedgerEvent, verdict: Verdict)] = []
    package private(set) var changes: [(mutation: ListMutation, until: Int64)] = []

    package init() {}

    // MARK: Questions

    package mutating func ask(for entry: LedgerEntry) {
        if let key = entry.idempotency?.key {
            for scope in [key.scope, key.formerScope].compactMap(\.self) {
                asked.scopes.append(scope)
                asked.keys.append(key.key)
            }
        }
        if let id = entry.selection?.id { asked.selections.append(id) }
        if let id = entry.undoes { asked.selections.append(id) }
        for event in entry.events { book.ask(for: event) }
    }

    private enum Question {
        case responses, selections, counts, exposures
    }

    private var asking: [Question] {
        var asking: [Question] = []
        if !asked.keys.isEmpty { asking.append(.responses) }
        if !asked.selections.isEmpty { asking.append(.selections) }
        if !book.asked.isEmpty { asking.append(.counts) }
        if !book.askedExposures.isEmpty { asking.append(.exposures) }
        return asking
    }

    package func questions(_ dialect: SQLDialect) -> [SQLCommand] {
        let texts = LedgerStatements.of(dialect)
        return asking.map { question in
            switch question {
            case .responses: SQLCommand(texts.findResponses, [.texts(asked.scopes), .texts(asked.keys)])
            case .selections: SQLCommand(texts.findSelections, [.texts(asked.selections)])
            case .counts: SQLCommand(texts.findCounts, book.countParameters)
            case .exposures: SQLCommand(texts.findExposures, book.exposureParameters)
            }
        }
    }

    package mutating func apply(_ row: some SQLRow, of question: Int) {
        switch asking[question] {
        case .responses:
            let key = StoredKey(scope: ByteString(row.text(0)), key: ByteString(row.text(1)))
            responses[key] = StoredResponse(
                fingerprint: ByteString(row.text(2)), response: row.bytes(3), expires: row.integer(4), owner: row.optionalText(5))
        case .selections: selections[ByteString(row.text(0))] = (row.integer(1), row.optionalInteger(2), false)
        case .counts: book.setCount(Int(row.integer(0)), row.integer(1))
        case .exposures: book.addExposure(Int(row.integer(0)), at: row.integer(1), row.integer(2))
        }
    }

    // MARK: Decisions

    package mutating func decide(
        _ entry: LedgerEntry, _ keys: [RateCounterKeys], at now: Int64, _ counters: RateCounters, _ rollups: inout Rollups,
        _ limiter: inout PendingRollup
    ) -> Result<LedgerReceipt, any Error> {
        self.now = now
        if let key = entry.idempotency?.key, let receipt = receipt(of: key, delay: entry.delay(until: now)) { return .success(receipt) }
        if let selection = entry.selection, selections[ByteString(selection.id)] != nil {
            return .failure(StoreError.unavailable("a selection of the id is there"))
        }
        if let id = entry.undoes, let receipt = undo(id) { return .success(receipt) }
        if let selection = entry.selection {
            inserted.append(selection)
            selections[ByteString(selection.id)] = (selection.expires, nil, false)
        }
        for change in entry.changes { changes.append((change, entry.selection?.expires ?? now)) }
        var verdicts: [Verdict] = []
        for (index, event) in entry.events.enumerated() {
            var verdict = event.verdict
            if verdict == .counted {
                verdict = counters.verdict(on: event, keys[index], committedAt: now)
                if verdict == .counted { verdict = book.judge(event) }
            }
            rollups.count(event, as: verdict, mayDefer: PendingRollup.mayDefer(event, as: verdict))
            verdicts.append(verdict)
            if verdict.isAccepted { remember(event) }
            guard limiter.accepts(event, as: verdict) else { continue }
            events.append((event, verdict))
        }
        for (refused, count) in entry.refused { rollups.count(refused.event(at: now), as: refused.reason, Int64(count), mayDefer: true) }
        if let (key, makeResponse) = entry.idempotency, let stored = makeResponse(verdicts) { store(stored, under: key) }
        return .success(.committed(verdicts))
    }

    private func receipt(of key: IdempotencyKey, delay: Int64) -> LedgerReceipt? {
        for scope in [key.scope, key.formerScope].compactMap(\.self) {
            guard let stored = responses[StoredKey(scope: ByteString(scope), key: ByteString(key.key))],
                key.isValid(until: stored.expires, delay: delay, now: now)
            else { continue }
            return stored.fingerprint == ByteString(key.fingerprint) ? .replayed(stored.response) : .keyReused
        }
        return nil
    }

    private mutating func store(_ response: [UInt8], under key: IdempotencyKey) {
        let storedKey = StoredKey(scope: ByteString(key.scope), key: ByteString(key.key))
        responses[storedKey] = StoredResponse(
            fingerprint: ByteString(key.fingerprint), response: response, expires: key.expires, owner: key.owner,
            isStored: responses[storedKey]?.isStored ?? false, isChanged: true)
    }

    private mutating func undo(_ id: String) -> LedgerReceipt? {
        guard var selection = selections[ByteString(id)] else { return .expired }
        guard selection.undoneAt == nil else { return .alreadyUndone }
        guard selection.expires > now else { return .expired }
        (selection.undoneAt, selection.isChanged) = (now, true)
        selections[ByteString(id)] = selection
        return nil
    }

    private mutating func remember(_ event: LedgerEvent) {
        guard event.kind == .impression, let impressionContext = event.impressionContext, let campaign = impressionContext.campaign,
            impressionContext.frequencyCapTTL > 0,
            let viewer = event.viewer
        else { return }
        let until = LedgerTime.latestEnd(
            at: event.at, window: Int64(impressionContext.frequencyCapTTL).multipliedReportingOverflow(by: 1_000).partialValue)
        let exposure = Exposure(viewer: ByteString(viewer), campaign: ByteString(campaign), at: event.at)
        let seen = exposures[exposure] ?? (0, until)
        exposures[exposure] = (seen.count + 1, max(seen.until, until))
    }

    // MARK: Statements

    package var perishableRows: Int {
        changes.count + inserted.count + exposures.count + responses.values.count(where: \.isChanged)
    }

    package func statements(_ dialect: SQLDialect) -> [SQLCommand] {
        if responses.isEmpty, selections.isEmpty, exposures.isEmpty { return [] }
        let texts = LedgerStatements.of(dialect)
        return responseStatements(texts) + selectionStatements(texts) + exposureStatements(texts)
    }

    private func responseStatements(_ texts: LedgerStatements) -> [SQLCommand] {
        let changed = responses.filter(\.value.isChanged).sorted {
            ($0.key.scope.text, $0.key.key.text) < ($1.key.scope.text, $1.key.key.text)
        }
        return [(texts.replaceResponses, changed.filter(\.value.isStored)), (texts.insertResponses, changed.filter { !$0.value.isStored })]
            .compactMap { text, rows in
                guard !rows.isEmpty else { return nil }
                return SQLCommand(
                    text,
                    [
                        .texts(rows.map(\.key.scope.text)), .texts(rows.map(\.key.key.text)), .texts(rows.map(\.value.fingerprint.text)),
                        .blobs(rows.map(\.value.response)), .integers(rows.map(\.value.expires)), .texts(rows.map(\.value.owner)),
                    ])
            }
    }

    private func selectionStatements(_ texts: LedgerStatements) -> [SQLCommand] {
        var statements: [SQLCommand] = []
        if !inserted.isEmpty {
            let sorted = inserted.sorted { $0.id < $1.id }
            let steps = sorted.flatMap { record in record.steps.enumerated().map { (record.id, Int64($0.offset), $0.element) } }
            statements = [
                SQLCommand(
                    texts.insertSelections,
                    [
                        .texts(sorted.map(\.id)), .texts(sorted.map(\.cell)), .texts(sorted.map(\.viewer)),
                        .integers(sorted.map(\.expires)),
                    ]),
                SQLCommand(
                    texts.insertSteps,
                    [.texts(steps.map(\.0)), .integers(steps.map(\.1)), .texts(steps.map(\.2.command)), .blobs(steps.map(\.2.undo))]),
            ]
        }
        let undone = selections.filter(\.value.isChanged)
        if !undone.isEmpty {
            statements.append(SQLCommand(texts.markUndone, [.texts(undone.map(\.key.text)), .integer(now)]))
        }
        return statements
    }

    private func exposureStatements(_ texts: LedgerStatements) -> [SQLCommand] {
        guard !exposures.isEmpty else { return [] }
        let sorted = exposures.sorted {
            ($0.key.viewer.text, $0.key.campaign.text, $0.key.at) < ($1.key.viewer.text, $1.key.campaign.text, $1.key.at)
        }
        return [
            SQLCommand(
                texts.addExposures,
                [
                    .texts(sorted.map(\.key.viewer.text)), .texts(sorted.map(\.key.campaign.text)), .integers(sorted.map(\.key.at)),
                    .integers(sorted.map(\.value.count)), .integers(sorted.map(\.value.until)),
                ])
        ]
    }
}

/// They are made once for each database, because a click must not pay for it.
private struct LedgerStatements: Sendable {
    private static let sqlite = LedgerStatements(.sqlite)
    private static let postgres = LedgerStatements(.postgres)

    static func of(_ dialect: SQLDialect) -> LedgerStatements { dialect.isPostgreSQL ? postgres : sqlite }

    let findResponses: String
    let findSelections: String
    let replaceResponses: String
    let insertResponses: String
    let insertSelections: String
    let insertSteps: String
    let markUndone: String
    let addExposures: String
    let findCounts: String
    let findExposures: String

    private init(_ dialect: SQLDialect) {
        findResponses = """
            SELECT stored.scope, stored.key, fingerprint, answer, expires, owner FROM \(dialect.table("asked", ["scope", "key"]))
            JOIN idempotency AS stored ON stored.scope = asked.scope AND stored.key = asked.key
            ORDER BY stored.scope, stored.key\(dialect.locking("stored"))
            """
        findSelections =
            "SELECT id, expires, undone_at FROM selection WHERE id \(dialect.isAny("?1")) ORDER BY id\(dialect.locking("selection"))"
        findCounts = DeliveryBook.countQuestion(dialect)
        findExposures = DeliveryBook.exposureQuestion(dialect)
        let columns = "(scope, key, fingerprint, answer, expires, owner)"
        // A new key that another process has written in the meantime is a conflict, so the group is repeated.
        insertResponses = "INSERT INTO idempotency \(columns) \(dialect.values(6))"
        replaceResponses = """
            \(insertResponses) ON CONFLICT (scope, key) DO UPDATE SET
                fingerprint = excluded.fingerprint, answer = excluded.answer, expires = excluded.expires, owner = excluded.owner
            """
        insertSelections = "INSERT INTO selection (id, cell, viewer, expires) \(dialect.values(4))"
        insertSteps = "INSERT INTO selection_step (selection, number, command, undo) \(dialect.values(4))"
        markUndone = "UPDATE selection SET undone_at = ?2 WHERE id \(dialect.isAny("?1"))"
        addExposures = """
            INSERT INTO exposure AS stored (viewer, campaign, at, count, until) \(dialect.values(5))
            ON CONFLICT (viewer, campaign, at) DO UPDATE SET
                count = stored.count + excluded.count, until = \(dialect.greatest)(stored.until, excluded.until)
            """
    }
}
