package import IntertwineFeed

/// A ledger of the product's own, with what the service asks of it besides what every ledger promises.
package protocol PersistentLedger: Ledger, LedgerArchive, CampaignLedger, TrackerLedger {
    var statistics: LedgerStatistics { get }

    /// How reading goes.
    var readStatistics: ReadStatistics { get }

    /// What a digest stands for; nil where nobody registered it.
    func capabilities(of digest: String) async throws -> String?

    /// Keeps what a client can show; on disk when it returns. Where there is no room for another name, the one that said so longest ago goes.
    func register(client name: String, digest: String, capabilities: String, now: Int64) async throws

    /// Looks whether what the ledger is kept in is still there. To be called now and then, by one caller at a time; it blocks.
    func checkForReplacement() -> FileChange?

    /// Has everything written that waits to be, when the process ends.
    func complete() async throws
}

/// How many registered clients are kept.
package enum ClientRows {
    package static let names: Int64 = 1_000
    /// Digests of one name: older ones make room.
    package static let perName: Int64 = 8
    /// Milliseconds within which saying the same again writes nothing.
    package static let freshness: Int64 = 86_400_000
}

extension SQLiteLedger: PersistentLedger {
    package func complete() async throws { try await completeFile() }
}
