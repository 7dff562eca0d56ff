/// One unit of work for the ledger: what one request did, committed together or not at all.
public struct LedgerEntry: Sendable {
    public var events: [LedgerEvent]
    /// What changes on the viewer's lists.
    public var changes: [ViewerChange]
    /// The selection to remember so that it can be undone.
    public var selection: SelectionRecord?
    /// The selection that this entry undoes. It is undone once: a second entry is answered with ``LedgerReceipt/Outcome/alreadyUndone``.
    public var undoes: String?
    /// Where the client sent an `Idempotency-Key`: the key, and what makes the answer that is kept under it of the events' verdicts; nil where
    /// they come to nothing that must not happen twice, and the key is not used up.
    public var idempotency: (key: IdempotencyKey, answer: @Sendable ([Verdict]) -> [UInt8]?)?

    public init(
        events: [LedgerEvent] = [], changes: [ViewerChange] = [], selection: SelectionRecord? = nil, undoes: String? = nil,
        idempotency: (key: IdempotencyKey, answer: @Sendable ([Verdict]) -> [UInt8]?)? = nil
    ) {
        self.events = events
        self.changes = changes
        self.selection = selection
        self.undoes = undoes
        self.idempotency = idempotency
    }
}
