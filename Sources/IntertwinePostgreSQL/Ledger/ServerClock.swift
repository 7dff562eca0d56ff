internal import IntertwineFeed
internal import IntertwineStorage
internal import Synchronization

/// The PostgreSQL server's time, by which a replica decides expiry and removal. A replica's own clock decides nothing.
///
/// Each result that carries the server's time is recorded. Between two results a monotonic clock advances it. A replica whose
/// clock differs from the server's writes nothing, as the times of its events would be wrong.
final class ServerClock: Sendable {
    /// The server's time, in milliseconds since 1970-01-01 UTC.
    static let expression = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    /// The permitted difference between the clock of a replica and the server's, in milliseconds.
    private static let tolerance: Int64 = 5_000

    /// A replacement for the server's time in tests; nil otherwise.
    let substitute: (@Sendable () -> Int64)?
    /// The last time that the server reported, and the local moment of that report.
    private let lastReading = Mutex<(server: Int64, at: ContinuousClock.Instant)?>(nil)

    init(substitute: (@Sendable () -> Int64)? = nil) {
        self.substitute = substitute
    }

    /// The server's time as far as is known without asking.
    var now: Int64 { substitute?() ?? estimate ?? SQLiteLedger.systemTime() }

    private var estimate: Int64? {
        lastReading.withLock { lastReading in
            lastReading.map { $0.server &+ Self.milliseconds($0.at.duration(to: .now)) }
        }
    }

    /// A time that was taken from this machine's clock a moment ago, by the server's clock. Small differences stay.
    func corrected(_ time: Int64) -> Int64 {
        guard substitute == nil, let estimate else { return time }
        let lead = SQLiteLedger.systemTime() &- estimate
        return lead.magnitude > UInt64(Self.tolerance) ? time &- lead : time
    }

    /// Records a reading of the server's time.
    ///
    /// - Parameters:
    ///   - server: The server's time.
    ///   - start: The time of the request by this machine's clock; the response arrives now.
    /// - Returns: The server's time.
    /// - Throws: `StoreError.unavailable` with one line that names the remedy, if the two clocks differ.
    @discardableResult
    func check(_ server: Int64, askedAt start: Int64) throws(StoreError) -> Int64 {
        lastReading.withLock { $0 = (server, .now) }
        let end = SQLiteLedger.systemTime()
        let (ahead, behind) = (start - server, server - end)
        guard max(ahead, behind) > Self.tolerance else { return server }
        throw .unavailable(
            "the clock of this machine is \(max(ahead, behind) / 1_000) s \(ahead > behind ? "ahead of" : "behind") that of the "
                + "PostgreSQL server; let both follow NTP")
    }

    /// Reads the server's time, for decisions before the next transaction.
    func ask(_ connection: PostgresConnection) throws {
        let start = SQLiteLedger.systemTime()
        try check(try connection.query("SELECT \(Self.expression)").integer(0, 0), askedAt: start)
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        duration.components.seconds * 1_000 + duration.components.attoseconds / 1_000_000_000_000_000
    }
}
