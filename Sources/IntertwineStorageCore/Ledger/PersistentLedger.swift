// Exported, because tools outside of the package, such as DocC, cannot load protocols whose parents are in modules that they do not load.
@_exported public import IntertwineFeed

package protocol PersistentLedger: Ledger, LedgerArchive, CampaignLedger, TrackerLedger {
    var statistics: LedgerStatistics { get }

    /// Returns the time that this ledger decides by, in milliseconds since 1970-01-01 UTC: of this machine, or of a shared database.
    var now: @Sendable () -> Int64 { get }

    var readStatistics: ReadStatistics { get }

    /// The counts of the cells whose lists have changed, with these changes, and the numbers of the changes for ``addUp(_:)``.
    func changedCounts(limit: Int) async throws -> (changes: [Int64], counts: [ListCount])

    func addUp(_ changes: [Int64]) async throws

    func counts(after cell: String, limit: Int) async throws -> [ListCount]

    func capabilities(of digest: String) async throws -> String?

    func use(client digest: String) async throws

    /// If there are too many names, one whose digests were never used is removed, or the least recently registered one.
    func register(client name: String, digest: String, capabilities: String, now: Int64) async throws

    /// Call it periodically, by one caller at a time; it blocks.
    func storageChange() -> FileChange?

    func complete() async throws
}

/// Counters of a ledger's writes since it was opened, and of waiting units.
package struct LedgerStatistics: Sendable, Hashable {
    package var commits = 0
    package var units = 0
    package var largestGroup = 0
    package var failed = 0
    /// The number of units that were refused because too many waited.
    package var refused = 0
    package var waiting = 0
    package var rateCounters = 0
    package var rateCounterBytes = 0

    package init() {}
}
