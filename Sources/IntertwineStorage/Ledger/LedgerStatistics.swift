/// What a ledger has written since it was opened, and what waits.
package struct LedgerStatistics: Sendable, Hashable {
    /// Transactions.
    package var commits = 0
    /// Units of work in them.
    package var units = 0
    /// The most units that shared one transaction.
    package var largestGroup = 0
    /// Units that could not be written.
    package var failed = 0
    /// Units that were turned away because too many waited.
    package var refused = 0
    /// Units that wait now.
    package var waiting = 0

    package init() {}
}
