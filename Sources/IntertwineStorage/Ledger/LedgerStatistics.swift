/// What a ledger has written since it was opened, and what waits.
public struct LedgerStatistics: Sendable, Hashable {
    /// Transactions.
    public var commits = 0
    /// Units of work in them.
    public var units = 0
    /// The most units that shared one transaction.
    public var largestGroup = 0
    /// Units that could not be written.
    public var failed = 0
    /// Units that were turned away because too many waited.
    public var refused = 0
    /// Units that wait now.
    public var waiting = 0

    public init() {}
}
