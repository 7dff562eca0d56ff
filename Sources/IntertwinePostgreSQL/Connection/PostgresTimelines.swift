internal import Synchronization

/// The timelines of the servers that this process has had sessions with.
///
/// The promotion of a standby begins a new timeline. A server that accepts writes on a lower timeline than the highest seen is an old
/// primary that came back. Writes to it would be lost, and reads from it are stale.
final class PostgresTimelines: Sendable {
    /// The timeline of a server that accepts writes.
    struct TimelinePosition: Sendable, Hashable {
        /// The system identifier of the cluster.
        var system: Int64
        var timeline: Int64
    }

    private struct State {
        /// The highest timeline seen, by system identifier.
        var highest: [Int64: Int64] = [:]
        /// The messages about old primaries that have not been taken.
        var messages: [String] = []
        var known: Set<String> = []
    }

    /// The timelines of this process.
    static let shared = PostgresTimelines()

    /// The query for system and timeline. It returns one row, with two NULLs for a standby, which accepts no writes.
    static let question = """
        SELECT CASE WHEN NOT pg_is_in_recovery() THEN (SELECT system_identifier FROM pg_control_system()) END,
            CASE WHEN NOT pg_is_in_recovery()
                THEN ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint END
        """

    private let state = Mutex(State())

    func record(_ position: TimelinePosition) {
        state.withLock { $0.highest[position.system] = max($0.highest[position.system] ?? 0, position.timeline) }
    }

    func isSeen(_ system: Int64) -> Bool { state.withLock { $0.highest[system] != nil } }

    /// Returns true if a higher timeline than that of a server was seen.
    ///
    /// - Parameter server: The name in the line that ``takeMessage()`` returns, once for each server and timeline.
    func isOutdated(_ position: TimelinePosition, server: @autoclosure () -> String) -> Bool {
        state.withLock { state in
            guard let highest = state.highest[position.system], position.timeline < highest else { return false }
            let line = Self.line(position, server(), highest)
            if state.known.insert(line).inserted { state.messages.append(line) }
            return true
        }
    }

    static func line(_ position: TimelinePosition, _ server: String, _ highest: Int64) -> String {
        "the server at \(server) is an old primary, on timeline \(position.timeline), but \(highest) was seen: its sessions are closed; "
            + "stop it, or make it a standby"
    }

    /// Removes and returns the next line for the operator's log; nil without one.
    func takeMessage() -> String? {
        state.withLock { $0.messages.isEmpty ? nil : $0.messages.removeFirst() }
    }
}
