// Exported, because tools outside of the package, such as DocC, cannot load protocols whose parents are in modules that they do not load.
@_exported public import IntertwineFeed

/// A ledger in a database, with the further functions that the service needs.
package protocol PersistentLedger: Ledger, LedgerArchive, CampaignLedger, TrackerLedger {
    var statistics: LedgerStatistics { get }

    /// Returns the time that this ledger decides by, in milliseconds since 1970-01-01 UTC: of this machine, or of a shared database.
    var now: @Sendable () -> Int64 { get }

    /// Statistics of reads.
    var readStatistics: ReadStatistics { get }

    /// Returns the registered capabilities of a digest, or nil.
    func capabilities(of digest: String) async throws -> String?

    /// Records that a request used a digest.
    func use(client digest: String) async throws

    /// Stores the capabilities of a client, durably when it returns. If there are too many names, one whose digests were never used is removed, or
    /// the least recently registered one.
    func register(client name: String, digest: String, capabilities: String, now: Int64) async throws

    /// Checks whether the ledger's storage is still there and sound. Call it periodically, by one caller at a time; it blocks.
    func storageChange() -> FileChange?

    /// Writes all waiting data before the process ends.
    func complete() async throws
}

/// Counters of a ledger's writes since it was opened, and of waiting units.
package struct LedgerStatistics: Sendable, Hashable {
    /// The number of transactions.
    package var commits = 0
    /// The number of units of work in these transactions.
    package var units = 0
    /// The largest number of units in one transaction.
    package var largestGroup = 0
    /// The number of units that could not be written.
    package var failed = 0
    /// The number of units that were refused because too many waited.
    package var refused = 0
    /// The number of units that wait now.
    package var waiting = 0
    /// The rate counters in memory, at most ``RecentRateCounters/defaultSlots`` × 3/4, and the bytes of their table.
    package var rateCounters = 0
    package var rateCounterBytes = 0

    package init() {}
}
