internal import IntertwineFeed
internal import IntertwineStorage

/// Holds a replica's clock to the server's: what is kept until a time is over by the clock of whichever replica is asked, and what was
/// kept by one that is too far ahead counts for nothing (`LedgerTime`). Where clocks differ, the same click would count twice.
enum ServerClock {
    /// The server's time, in milliseconds since 1970-01-01 UTC.
    static let expression = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    /// Milliseconds: of two replicas, none is further ahead of the other than what is kept may be.
    private static let tolerance: Int64 = 5_000

    /// - Parameters:
    ///   - server: what it said its time was.
    ///   - start: when it was asked, by this machine's clock; it answers now.
    /// - Throws: `StoreError.unavailable` with one line that says what to do.
    static func check(_ server: Int64, askedAt start: Int64) throws(StoreError) {
        let end = SQLiteLedger.systemTime()
        let (ahead, behind) = (start - server, server - end)
        guard max(ahead, behind) > tolerance else { return }
        throw .unavailable(
            "the clock of this machine is \(max(ahead, behind) / 1_000) s \(ahead > behind ? "ahead of" : "behind") that of the "
                + "PostgreSQL server; let both follow NTP")
    }
}
