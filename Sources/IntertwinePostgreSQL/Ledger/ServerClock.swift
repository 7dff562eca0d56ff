internal import Glibc
internal import IntertwineFeed
internal import IntertwinePrimitives
internal import IntertwineStorageCore
internal import Synchronization

/// The PostgreSQL server's time, by which a replica decides expiry and removal.
/// A replica whose clock differs from the server's writes nothing, as the times of its events would be wrong.
final class ServerClock: Sendable {
    /// The server's time, in milliseconds since 1970-01-01 UTC.
    static let expression = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    /// The permitted difference between the clock of a replica and the server's, in milliseconds.
    private static let tolerance: Int64 = 5_000

    /// A replacement for the server's time in tests; nil otherwise.
    let substitute: (@Sendable () -> Int64)?
    private let origin = Atomic<Int64>(unread)

    private static let unread = Int64.min
    private let difference = Atomic<Int64>(unread)

    init(substitute: (@Sendable () -> Int64)? = nil) {
        self.substitute = substitute
    }

    var now: Int64 { substitute?() ?? estimate ?? WallClock.now() }

    /// Why: a page is dated by the precise clock of its machine, but a wrong clock must not start or end a campaign.
    var corrected: Int64 {
        if let substitute { return substitute() }
        let local = WallClock.now()
        guard let estimate else { return local }
        return abs(local &- estimate) > Self.tolerance ? estimate : local
    }

    /// The milliseconds by which this machine's clock is ahead of the server's, by the last report; nil before the first one.
    var offset: Int64? {
        let difference = difference.load(ordering: .relaxed)
        return difference == Self.unread ? nil : difference
    }

    private var estimate: Int64? {
        let origin = origin.load(ordering: .relaxed)
        return origin == Self.unread ? nil : origin &+ Self.monotonic()
    }

    /// Returns the milliseconds of a clock without adjustments, which includes the time of a suspended machine.
    private static func monotonic() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    @discardableResult
    func check(_ server: Int64, askedAt start: Int64) throws(StoreError) -> Int64 {
        origin.store(server &- Self.monotonic(), ordering: .relaxed)
        let end = WallClock.now()
        difference.store((start &+ end) / 2 &- server, ordering: .relaxed)
        let (ahead, behind) = (start - server, server - end)
        guard max(ahead, behind) > Self.tolerance else { return server }
        throw .unavailable(
            "the clock of this machine is \(max(ahead, behind) / 1_000) s \(ahead > behind ? "ahead of" : "behind") that of the "
                + "PostgreSQL server; let both follow NTP")
    }

    func ask(_ connection: PostgresConnection) throws {
        let start = WallClock.now()
        try check(try connection.query("SELECT \(Self.expression)").integer(0, 0), askedAt: start)
    }
}
