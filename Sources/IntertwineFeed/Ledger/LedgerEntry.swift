/// One unit of work for the ledger: what one request did, committed together or not at all.
public struct LedgerEntry: Sendable {
    public var events: [LedgerEvent]
    /// What nothing vouches for or a rate limit refused, and how often: it is counted, and leaves no row.
    public var refused: [RejectedEvent: Int]
    /// What changes on the viewer's lists.
    public var changes: [ListMutation]
    /// The selection to remember so that it can be undone.
    public var selection: CommandRecord?
    /// The selection that this entry undoes. It is undone once: a second entry is answered with ``LedgerReceipt/alreadyUndone``.
    public var undoes: String?
    /// Where the client sent an `Idempotency-Key`: the key, and what makes the answer that is kept under it of the events' verdicts; nil where
    /// they come to nothing that must not happen twice, and the key is not used up.
    public var idempotency: (key: IdempotencyKey, answer: @Sendable ([Verdict]) -> [UInt8]?)?

    public init(
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
    /// Milliseconds from what it records until a moment: a process may stand still in between.
    package func delay(until now: Int64) -> Int64 {
        guard let event = events.first else { return 0 }
        let (delay, isEndless) = now.subtractingReportingOverflow(event.at)
        return isEndless ? 0 : max(0, delay)
    }
}

/// Something reported that nothing vouches for, or that a rate limit refused: of what it says of itself nothing is kept.
public struct RejectedEvent: Sendable, Hashable {
    public var kind: LedgerEvent.Kind
    /// `forged`, `misplaced`, `gone` or `limited`.
    public var reason: Verdict

    public init(_ kind: LedgerEvent.Kind, _ reason: Verdict) {
        (self.kind, self.reason) = (kind, reason)
    }

    /// What it is counted as.
    package func event(at now: Int64) -> LedgerEvent { LedgerEvent(at: now, kind: kind, cell: "", verdict: reason) }
}

/// What became of a ``LedgerEntry``. But for the first, nothing was written.
public enum LedgerReceipt: Sendable, Hashable {
    /// On disk, with the final verdict of each event, in their order.
    case committed([Verdict])
    /// The idempotency key had been used for the same request: this is the answer it got.
    case replayed([UInt8])
    /// The idempotency key had been used for another request.
    case keyReused
    /// The selection to undo had been undone before.
    case alreadyUndone
    /// The time for undoing the selection is over.
    case expired

    /// The verdicts of what was committed; none of what was not.
    public var verdicts: [Verdict] {
        if case .committed(let verdicts) = self { verdicts } else { [] }
    }
}

/// A client's `Idempotency-Key`, with what it was used for.
public struct IdempotencyKey: Sendable, Hashable {
    /// Who used it (viewer or address) and the key itself; unique together.
    public var scope: String
    /// What the scope of the same client and key was under the signing key before; nil where there is none. Answers may be kept under it.
    public var formerScope: String?
    /// Whose it is, as what is erased with a viewer is found by; nil where that is nobody's.
    public var owner: String?
    public var key: String
    /// A digest of method, path and body: the same key with another request is an error (422).
    public var fingerprint: String
    /// Milliseconds since 1970-01-01 UTC after which the key is forgotten.
    public var expires: Int64

    public init(
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

/// One performed action, as far as undoing it needs to know.
public struct CommandRecord: Sendable, Hashable {
    public struct Step: Sendable, Hashable {
        /// The command's registered name.
        public var command: String
        /// What the command needs to take itself back; its own format. Nil where it cannot be undone.
        public var undo: [UInt8]?

        public init(command: String, undo: [UInt8]?) {
            self.command = command
            self.undo = undo
        }
    }

    public var id: String
    public var cell: String
    public var viewer: String?
    /// The performed steps, in order. Undone in reverse.
    public var steps: [Step]
    /// Milliseconds since 1970-01-01 UTC; undo is refused after it.
    public var expires: Int64
    /// When it was undone, in milliseconds since 1970-01-01 UTC.
    public var undoneAt: Int64?

    public init(id: String, cell: String, viewer: String?, steps: [Step], expires: Int64, undoneAt: Int64? = nil) {
        self.id = id
        self.cell = cell
        self.viewer = viewer
        self.steps = steps
        self.expires = expires
        self.undoneAt = undoneAt
    }
}
