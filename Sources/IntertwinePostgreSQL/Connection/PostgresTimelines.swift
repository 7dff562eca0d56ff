internal import Synchronization

/// The timelines of the servers that this process has had sessions with.
///
/// The promotion of a standby begins a new timeline. A server that takes writes on a lower one than was ever seen is an old primary that
/// came back: what is written there is lost, and what is read there is old.
final class PostgresTimelines: Sendable {
    /// The timeline of a server that takes writes.
    struct Place: Sendable, Hashable {
        /// Of the cluster.
        var system: Int64
        var timeline: Int64
    }

    private struct State {
        /// By system.
        var highest: [Int64: Int64] = [:]
        /// Old primaries, of which nobody has read the line yet.
        var news: [String] = []
        var known: Set<String> = []
    }

    /// Those of this process.
    static let shared = PostgresTimelines()

    /// One row; two NULLs for a standby, which takes no writes.
    static let question = """
        SELECT CASE WHEN NOT pg_is_in_recovery() THEN (SELECT system_identifier FROM pg_control_system()) END,
            CASE WHEN NOT pg_is_in_recovery()
                THEN ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint END
        """

    private let state = Mutex(State())

    func note(_ place: Place) {
        state.withLock { $0.highest[place.system] = max($0.highest[place.system] ?? 0, place.timeline) }
    }

    func isSeen(_ system: Int64) -> Bool { state.withLock { $0.highest[system] != nil } }

    /// Whether a higher timeline than a server's was seen.
    ///
    /// - Parameter server: for the line that ``takeNews()`` returns, once for each server and timeline.
    func isOutdated(_ place: Place, server: @autoclosure () -> String) -> Bool {
        state.withLock { state in
            guard let highest = state.highest[place.system], place.timeline < highest else { return false }
            let line = Self.line(place, server(), highest)
            if state.known.insert(line).inserted { state.news.append(line) }
            return true
        }
    }

    static func line(_ place: Place, _ server: String, _ highest: Int64) -> String {
        "the server at \(server) is an old primary, on timeline \(place.timeline) where \(highest) was seen: its sessions are closed; "
            + "stop it, or make it a standby"
    }

    /// What operators have to be told of, once.
    func takeNews() -> String? {
        state.withLock { $0.news.isEmpty ? nil : $0.news.removeFirst() }
    }
}
