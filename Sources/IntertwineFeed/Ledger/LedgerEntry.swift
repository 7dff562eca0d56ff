package struct LedgerEntry: Sendable {
    package var events: [LedgerEvent]
    package var refused: [RejectedEvent: Int]
    package var changes: [ListMutation]
    package var selection: CommandRecord?
    package var undoes: String?
    /// It returns nil if the request has no effect that must not happen twice; the key is then not consumed.
    package var idempotency: (key: IdempotencyKey, answer: @Sendable ([Verdict]) -> [UInt8]?)?

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
    /// Returns the milliseconds between the first event and `now`.
    package func delay(until now: Int64) -> Int64 {
        guard let event = events.first else { return 0 }
        let (delay, isEndless) = now.subtractingReportingOverflow(event.at)
        return isEndless ? 0 : max(0, delay)
    }
}

package struct RejectedEvent: Sendable, Hashable {
    package var kind: LedgerEvent.Kind
    package var reason: Verdict

    package init(_ kind: LedgerEvent.Kind, _ reason: Verdict) {
        (self.kind, self.reason) = (kind, reason)
    }

    package func event(at now: Int64) -> LedgerEvent { LedgerEvent(at: now, kind: kind, cell: "", verdict: reason) }
}

package enum LedgerReceipt: Sendable, Hashable {
    case committed([Verdict])
    case replayed([UInt8])
    case keyReused
    case alreadyUndone
    case expired

    package var verdicts: [Verdict] {
        if case .committed(let verdicts) = self { verdicts } else { [] }
    }
}

package struct IdempotencyKey: Sendable, Hashable {
    package var scope: String
    package var formerScope: String?
    package var owner: String?
    package var key: String
    package var fingerprint: String
    /// The expiry of the key in milliseconds since 1970-01-01 UTC.
    package var expires: Int64

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

package struct CommandRecord: Sendable, Hashable {
    package struct Step: Sendable, Hashable {
        package var command: String
        package var undo: [UInt8]?

        package init(command: String, undo: [UInt8]?) {
            self.command = command
            self.undo = undo
        }
    }

    package var id: String
    package var cell: String
    package var viewer: String?
    package var steps: [Step]
    /// The end of the undo window in milliseconds since 1970-01-01 UTC.
    package var expires: Int64
    /// The time of the undo in milliseconds since 1970-01-01 UTC.
    package var undoneAt: Int64?

    package init(id: String, cell: String, viewer: String?, steps: [Step], expires: Int64, undoneAt: Int64? = nil) {
        self.id = id
        self.cell = cell
        self.viewer = viewer
        self.steps = steps
        self.expires = expires
        self.undoneAt = undoneAt
    }
}
