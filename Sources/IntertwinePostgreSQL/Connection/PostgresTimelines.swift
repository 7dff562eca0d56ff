internal import Synchronization

/// Writes to it would be lost, and reads from it are stale.
final class PostgresTimelines: Sendable {
    struct TimelinePosition: Sendable, Hashable {
        var system: Int64
        var timeline: Int64
    }

    private struct State {
        var highest: [Int64: Int64] = [:]
        var messages: [String] = []
        var known: Set<String> = []
    }

    static let shared = PostgresTimelines()

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

    func takeMessage() -> String? {
        state.withLock { $0.messages.isEmpty ? nil : $0.messages.removeFirst() }
    }
}
