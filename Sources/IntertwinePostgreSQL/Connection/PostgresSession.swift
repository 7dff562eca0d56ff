internal import CPostgreSQL
internal import Dispatch
internal import Glibc
internal import IntertwineStorageCore
internal import Synchronization

/// The settings of a session, which apply unless its address overrides them.
struct PostgresSettings: Sendable, Hashable {
    var applicationName: String = "intertwine"
    var statementTimeout: Duration?
    /// This suits statements that read a few rows by an index. Why: planning such a statement costs more than running it.
    var plansOnce: Bool = false
    var readsOneState: Bool = false
    var requiresStandby: Bool = false
}

enum PostgresSession {
    private static let oldest: Int32 = 150_000

    /// Blocks for at most two seconds per host, unless the address sets another limit.
    static func open(
        _ address: PostgresAddress, _ settings: PostgresSettings
    ) throws(PostgresError) -> (OpaquePointer, PostgresTimelines.TimelinePosition?) {
        let handle = if let known = connectToKnownStandby(address, settings) { known } else { try connect(address, settings) }
        guard let position = timeline(of: handle) else {
            if settings.requiresStandby { remember(handle, address) }
            return (handle, nil)
        }
        let timelines = PostgresTimelines.shared
        // A new process has seen no timeline, and an old primary may be the first host that responds.
        if !timelines.isSeen(position.system) { for other in others(address, handle) { readTimeline(at: other, address, settings) } }
        timelines.record(position)
        let server = shown(handle)
        guard timelines.isOutdated(position, server: server) else { return (handle, position) }
        defer { PQfinish(handle) }
        // libpq would connect to this host again.
        for other in others(address, handle) {
            guard let next = try? connect(address, settings, at: other) else { continue }
            let found = timeline(of: next)
            if let found { timelines.record(found) }
            if let found, !timelines.isOutdated(found, server: shown(next)) { return (next, found) }
            PQfinish(next)
        }
        throw PostgresError(message: "an old primary responds at \(server), and no other server accepts writes", isConnectionLost: true)
    }

    /// The host that was a standby last, by address. Why: libpq tries the hosts in their order, and waits for a frozen primary first.
    private static let standbys = Mutex<[String: PostgresAddress.Endpoint]>([:])

    private static func connectToKnownStandby(_ address: PostgresAddress, _ settings: PostgresSettings) -> OpaquePointer? {
        guard settings.requiresStandby, let known = standbys.withLock({ $0[address.uri] }) else { return nil }
        if let handle = try? connect(address, settings, at: known) { return handle }
        standbys.withLock { $0[address.uri] = nil }
        return nil
    }

    private static func remember(_ handle: OpaquePointer, _ address: PostgresAddress) {
        let others = others(address, handle)
        guard !others.isEmpty, let own = address.endpoints.first(where: { !others.contains($0) }) else { return }
        standbys.withLock { $0[address.uri] = own }
    }

    static func shown(_ handle: OpaquePointer) -> String {
        let text = { (value: UnsafeMutablePointer<CChar>?) in value.map { String(cString: $0) } ?? "" }
        return "\(text(PQhost(handle))):\(text(PQport(handle)))"
    }

    private static func others(_ address: PostgresAddress, _ handle: OpaquePointer) -> [PostgresAddress.Endpoint] {
        guard address.endpoints.count > 1 else { return [] }
        let own = shown(handle)
        return address.endpoints.filter { "\($0.host.isEmpty ? $0.hostAddress : $0.host):\($0.port.isEmpty ? "5432" : $0.port)" != own }
    }

    private static func readTimeline(at endpoint: PostgresAddress.Endpoint, _ address: PostgresAddress, _ settings: PostgresSettings) {
        guard let handle = try? connect(address, settings, at: endpoint, [("connect_timeout", "2"), ("target_session_attrs", "any")]) else {
            return
        }
        defer { PQfinish(handle) }
        if let found = timeline(of: handle) { PostgresTimelines.shared.record(found) }
    }

    private static func timeline(of handle: OpaquePointer) -> PostgresTimelines.TimelinePosition? {
        guard let result = PQexec(handle, PostgresTimelines.question) else { return nil }
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_TUPLES_OK, PQntuples(result) == 1 else { return nil }
        let number = { (column: Int32) in
            PQgetisnull(result, 0, column) == 1 ? nil : PQgetvalue(result, 0, column).flatMap { Int64(String(cString: $0)) }
        }
        guard let system = number(0), let timeline = number(1) else { return nil }
        return PostgresTimelines.TimelinePosition(system: system, timeline: timeline)
    }

    private static func connect(
        _ address: PostgresAddress, _ settings: PostgresSettings, at endpoint: PostgresAddress.Endpoint? = nil,
        _ more: [(String, String)] = []
    ) throws(PostgresError) -> OpaquePointer {
        let host = endpoint.map { [("host", $0.host), ("hostaddr", $0.hostAddress), ("port", $0.port)] } ?? []
        let handle = withParameters(address, settings, host + more) { PQconnectdbParams($0, $1, 1) }
        guard let handle else { throw PostgresError(message: "out of memory for a connection") }
        do throws(PostgresError) {
            guard PQstatus(handle) == CONNECTION_OK else {
                let message = address.concealing(String(cString: PQerrorMessage(handle)))
                // libpq reports the SQLSTATE of a refusal only with verbose errors, which must be set beforehand.
                let code = message.contains("FATAL") ? refusal(address, settings) : ""
                throw PostgresError(code: code, message: message, isConnectionLost: true)
            }
            try check(handle)
            return handle
        } catch {
            PQfinish(handle)
            throw error
        }
    }

    private static func check(_ handle: OpaquePointer) throws(PostgresError) {
        // By default libpq prints notices to standard error.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        let version = PQserverVersion(handle)
        guard version >= oldest else {
            let shown = "\(version / 10_000).\(version % 10_000)"
            throw PostgresError(code: "0A000", message: "the server is PostgreSQL \(shown); 15 or later is required")
        }
        let encoding = PQparameterStatus(handle, "server_encoding").map { String(cString: $0) } ?? "unknown"
        guard encoding == "UTF8" else {
            throw PostgresError(
                code: "22021",
                message: "the database's encoding is \(encoding); make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0")
        }
    }

    private static func refusal(_ address: PostgresAddress, _ settings: PostgresSettings) -> String {
        guard let handle = withParameters(address, settings, [], { PQconnectStartParams($0, $1, 1) }) else { return "" }
        defer { PQfinish(handle) }
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        let deadline = ContinuousClock.now + .seconds(2)
        var step = PGRES_POLLING_WRITING
        while step == PGRES_POLLING_WRITING || step == PGRES_POLLING_READING, ContinuousClock.now < deadline {
            let events = Int16(step == PGRES_POLLING_READING ? POLLIN : POLLOUT)
            var poller = pollfd(fd: PQsocket(handle), events: events, revents: 0)
            poll(&poller, 1, 100)
            if poller.revents != 0 { step = PQconnectPoll(handle) }
        }
        // An example: `FATAL:  28P01: password authentication failed …`
        let message = String(cString: PQerrorMessage(handle))
        guard let fatal = message.firstRange(of: "FATAL:") else { return "" }
        let code = message[fatal.upperBound...].drop { $0 == " " }.prefix(5)
        return code.allSatisfy { $0.isASCII && ($0.isNumber || $0.isUppercase) } ? String(code) : ""
    }

    private static func withParameters(
        _ address: PostgresAddress, _ settings: PostgresSettings, _ overriding: [(String, String)] = [],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> OpaquePointer?
    ) -> OpaquePointer? {
        let timeout = (settings.statementTimeout ?? address.statementTimeout).components
        let milliseconds = timeout.seconds * 1_000 + timeout.attoseconds / 1_000_000_000_000_000
        let options =
            "-c statement_timeout=\(milliseconds) -c idle_in_transaction_session_timeout=60000"
            // The locks of an unreachable machine are released after five seconds.
            + " -c tcp_keepalives_idle=2 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=3 -c tcp_user_timeout=5000"
            + (settings.plansOnce ? " -c plan_cache_mode=force_generic_plan" : "")
            // Of two values of one setting the last is used.
            + (address.options.isEmpty ? "" : " \(address.options)")
        // The parameters before the address are defaults, which the address overrides.
        let parameters =
            [
                ("connect_timeout", "2"), ("keepalives_idle", "2"), ("keepalives_interval", "1"), ("keepalives_count", "3"),
                ("tcp_user_timeout", "5000"), ("fallback_application_name", settings.applicationName),
                ("dbname", address.uri), ("options", options), ("client_encoding", "UTF8"),
            ] + (settings.requiresStandby ? [("target_session_attrs", "standby")] : []) + overriding
        let keywords = parameters.map { strdup($0.0) }
        let values = parameters.map { strdup($0.1) }
        defer { for text in keywords + values { free(text) } }
        return body(keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil])
    }
}

/// A session that another thread opens. Why: libpq cannot be interrupted while it connects, and a frozen server accepts connections.
///
/// `@unchecked Sendable`: the handle is used by the opening thread until it has put it into the state, and then by the one that takes it out.
final class PendingSession: @unchecked Sendable {
    typealias Session = (handle: OpaquePointer, timeline: PostgresTimelines.TimelinePosition?)

    private var outcome: Result<Session, PostgresError>?
    private var isAbandoned = false
    private let lock = Mutex(())
    private let isDone = DispatchSemaphore(value: 0)

    static func open(
        _ address: PostgresAddress, _ settings: PostgresSettings, _ pulse: PostgresPulse?
    ) throws(PostgresError) -> Session {
        guard let pulse else { return try PostgresSession.open(address, settings) }
        let pending = PendingSession()
        DispatchQueue(label: "intertwine.connect").async {
            pending.complete(Result { () throws(PostgresError) in try PostgresSession.open(address, settings) })
        }
        return try pending.wait(pulse)
    }

    private func complete(_ result: Result<Session, PostgresError>) {
        let isUnwanted = lock.withLock { _ in
            outcome = result
            return isAbandoned
        }
        if isUnwanted, case .success(let session) = result { PQfinish(session.handle) }
        isDone.signal()
    }

    private func wait(_ pulse: PostgresPulse) throws(PostgresError) -> Session {
        let start = ContinuousClock.now
        while isDone.wait(timeout: .now() + .milliseconds(50)) == .timedOut {
            guard pulse.isSilent, .now - start > PostgresPulse.patience else { continue }
            let isTooLate = lock.withLock { _ in
                isAbandoned = outcome == nil
                return isAbandoned
            }
            if isTooLate { throw PostgresError(message: "the server does not respond", isConnectionLost: true) }
        }
        guard let outcome = lock.withLock({ _ in outcome }) else { throw PostgresError(message: "the session was not opened") }
        return try outcome.get()
    }
}
