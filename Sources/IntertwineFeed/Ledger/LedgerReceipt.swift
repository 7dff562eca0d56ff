/// What became of a ``LedgerEntry``.
public struct LedgerReceipt: Sendable, Hashable {
    public enum Outcome: Sendable, Hashable {
        /// On disk.
        case committed
        /// The idempotency key had been used for the same request: this is the answer it got. Nothing was written.
        case replayed([UInt8])
        /// The idempotency key had been used for another request. Nothing was written.
        case keyReused
        /// The selection to undo had been undone before. Nothing was written.
        case alreadyUndone
        /// The time for undoing the selection is over. Nothing was written.
        case expired
    }

    public var outcome: Outcome
    /// The final verdict of each event, in their order; empty unless committed.
    public var verdicts: [Verdict]

    public init(outcome: Outcome, verdicts: [Verdict] = []) {
        self.outcome = outcome
        self.verdicts = verdicts
    }
}
