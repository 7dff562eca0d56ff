/// One unit of work for the ledger: the effects of one request, committed atomically.
///
/// ```swift
/// let change = ListMutation.add(list: .saved, viewer: "ann", cell: "user:1", performance: "p1", at: now)
/// let save = LedgerEvent(at: now, kind: .save, cell: "user:1", viewer: "ann")
/// let receipt = try await ledger.commit(LedgerEntry(events: [save], changes: [change]))
/// ```
package struct LedgerEntry: Sendable {
    /// The events to record, in order. ``LedgerReceipt/verdicts`` has the same order.
    package var events: [LedgerEvent]
    /// The numbers of unauthenticated or rate-limited events by reason. These events are counted and leave no row.
    package var refused: [RejectedEvent: Int]
    /// The changes of the viewer's lists.
    package var changes: [ListMutation]
    /// The selection to store for a later undo.
    package var selection: CommandRecord?
    /// The selection that this entry undoes. A second entry for that selection results in ``LedgerReceipt/alreadyUndone``.
    package var undoes: String?
    /// The `Idempotency-Key` of the client and a function that returns the response to store under it, or nil without a key.
    ///
    /// The function receives the verdicts of the events. It returns nil if the request has no effect that must not happen twice; the key is then
    /// not consumed.
    package var idempotency: (key: IdempotencyKey, answer: @Sendable ([Verdict]) -> [UInt8]?)?

    /// Creates an entry. Without arguments, it has no effect.
    package init(
        events: [LedgerEvent] = [], refused: [RejectedEvent: Int] = [:], changes: [ListMutation] = [], selection: CommandRecord? = nil,
        undoes: String? = nil,
        idempotency: (key: IdempotencyKey, answer: @Sendable ([Verdict]) -> [UInt8]?)? = nil
    ) {
        self.events = events
        self.refused = refused
        self.changes = changes
        self.selection = selection
        self.undoes = undoes
        self.idempotency = idempotency
    }
}

extension LedgerEntry {
    /// Returns the milliseconds between the first event and `now`. The process may have been suspended in between.
    package func delay(until now: Int64) -> Int64 {
        guard let event = events.first else { return 0 }
        let (delay, isEndless) = now.subtractingReportingOverflow(event.at)
        return isEndless ? 0 : max(0, delay)
    }
}

/// A reported event that is unauthenticated or rate-limited. No data from the report itself is stored.
///
/// ```swift
/// let entry = LedgerEntry(refused: [RejectedEvent(.click, .forged): 3])
/// ```
package struct RejectedEvent: Sendable, Hashable {
    /// The kind of the reported event.
    package var kind: LedgerEvent.Kind
    /// The reason: `forged`, `misplaced`, `gone` or `limited`.
    package var reason: Verdict

    /// Creates a rejection from the kind of the event and the reason.
    package init(_ kind: LedgerEvent.Kind, _ reason: Verdict) {
        (self.kind, self.reason) = (kind, reason)
    }

    /// Returns the event under which the rejection is counted.
    package func event(at now: Int64) -> LedgerEvent { LedgerEvent(at: now, kind: kind, cell: "", verdict: reason) }
}

/// The result of a ``LedgerEntry``. Only ``committed(_:)`` means that data was written.
///
/// ```swift
/// switch try await ledger.commit(LedgerEntry(events: [event])) {
/// case .committed(let verdicts): print(verdicts)
/// case .replayed, .keyReused, .alreadyUndone, .expired: print("nothing was written")
/// }
/// ```
package enum LedgerReceipt: Sendable, Hashable {
    /// The entry is durable on disk. The verdicts are the final verdicts of its events, in their order.
    case committed([Verdict])
    /// The idempotency key was already used for an identical request. The bytes are its stored response.
    case replayed([UInt8])
    /// The idempotency key was already used for another request.
    case keyReused
    /// The selection was already undone.
    case alreadyUndone
    /// The undo window of the selection is over.
    case expired

    /// The verdicts of the committed events. The array is empty if nothing was committed.
    ///
    /// ```swift
    /// LedgerReceipt.committed([.counted, .duplicate]).verdicts  // [.counted, .duplicate]
    /// LedgerReceipt.alreadyUndone.verdicts  // []
    /// ```
    package var verdicts: [Verdict] {
        if case .committed(let verdicts) = self { verdicts } else { [] }
    }
}

/// The `Idempotency-Key` of a client and the request for which it was used.
///
/// ```swift
/// let key = IdempotencyKey(scope: "v:ann", key: "5f3c", fingerprint: digest, expires: now + 86_400_000)
/// let entry = LedgerEntry(events: [event], idempotency: (key: key, answer: { _ in response }))
/// ```
package struct IdempotencyKey: Sendable, Hashable {
    /// The user of the key, a viewer or an address. Scope and key together are unique.
    package var scope: String
    /// The scope of this client and key under the previous signing key, or nil without one. Responses may be stored under it.
    package var formerScope: String?
    /// The owner by which an erasure of a viewer finds the key, or nil if the key belongs to no viewer.
    package var owner: String?
    /// The value of the `Idempotency-Key` field.
    package var key: String
    /// A digest of method, path and body. The use of a key with another request is an error (422).
    package var fingerprint: String
    /// The expiry of the key in milliseconds since 1970-01-01 UTC.
    package var expires: Int64

    /// Creates a key for one request of a user.
    package init(
        scope: String, formerScope: String? = nil, owner: String? = nil, key: String, fingerprint: String, expires: Int64
    ) {
        self.scope = scope
        self.formerScope = formerScope
        self.owner = owner
        self.key = key
        self.fingerprint = fingerprint
        self.expires = expires
    }
}

/// The record of one performed action, with the data for its undo.
///
/// ```swift
/// let steps = [CommandRecord.Step(command: "save", undo: [])]
/// let record = CommandRecord(id: "p1", cell: "user:1", viewer: "ann", steps: steps, expires: now + 600_000)
/// _ = try await ledger.commit(LedgerEntry(selection: record))
/// _ = try await ledger.commit(LedgerEntry(undoes: "p1"))
/// ```
package struct CommandRecord: Sendable, Hashable {
    /// A performed command of a macro command.
    package struct Step: Sendable, Hashable {
        /// The registered name of the command.
        package var command: String
        /// The undo record in the format of the command, or nil if the step cannot be undone.
        package var undo: [UInt8]?

        /// Creates a step from the name of a command and its undo record.
        package init(command: String, undo: [UInt8]?) {
            self.command = command
            self.undo = undo
        }
    }

    /// The id of the performance, by which a client undoes it.
    package var id: String
    /// The id of the cell, such as `user:1`.
    package var cell: String
    /// The viewer who performed the action, or nil for an anonymous client.
    package var viewer: String?
    /// The performed steps, in order. An undo reverts them in reverse order.
    package var steps: [Step]
    /// The end of the undo window in milliseconds since 1970-01-01 UTC. An undo after it is rejected.
    package var expires: Int64
    /// The time of the undo in milliseconds since 1970-01-01 UTC.
    package var undoneAt: Int64?

    /// Creates the record of an action. Without a time of the undo, the action is in effect.
    package init(id: String, cell: String, viewer: String?, steps: [Step], expires: Int64, undoneAt: Int64? = nil) {
        self.id = id
        self.cell = cell
        self.viewer = viewer
        self.steps = steps
        self.expires = expires
        self.undoneAt = undoneAt
    }
}
