internal import CPostgreSQL
internal import Glibc

/// What a session is set to, where its address says nothing else.
package struct PostgresSettings: Sendable, Hashable {
    /// Shown by `pg_stat_activity`.
    package var applicationName: String
    /// The server ends a statement that takes longer; nil for what the address says, zero for never.
    package var statementTimeout: Duration?
    /// Whether a statement is planned once, whatever its values: for those that read a few rows by an index. Planning such a one costs more
    /// than running it.
    package var plansOnce: Bool
    /// Whether statements that are run together, outside of a transaction, see one state of the database.
    package var readsOneState: Bool

    package init(
        applicationName: String = "intertwine", statementTimeout: Duration? = nil, plansOnce: Bool = false, readsOneState: Bool = false
    ) {
        self.applicationName = applicationName
        self.statementTimeout = statementTimeout
        self.plansOnce = plansOnce
        self.readsOneState = readsOneState
    }
}

/// Opens sessions: libpq's part of ``PostgresConnection``.
enum PostgresSession {
    /// The oldest server that has what we use.
    private static let oldest: Int32 = 150_000

    /// Blocks until a server has taken the session, or none has: five seconds for each host, where the address says nothing else.
    ///
    /// - Returns: the session, and the timeline of its server where that takes writes.
    static func open(
        _ address: PostgresAddress, _ settings: PostgresSettings
    ) throws(PostgresError) -> (OpaquePointer, PostgresTimelines.Place?) {
        let handle = try connect(address, settings)
        guard let place = timeline(of: handle) else { return (handle, nil) }
        let timelines = PostgresTimelines.shared
        // A process that has just begun has seen none: an old primary may be the first that answers.
        if !timelines.isSeen(place.system) { for other in others(address, handle) { look(at: other, address, settings) } }
        timelines.note(place)
        let server = shown(handle)
        guard timelines.isOutdated(place, server: server) else { return (handle, place) }
        defer { PQfinish(handle) }
        // libpq would take the same one again.
        for other in others(address, handle) {
            guard let next = try? connect(address, settings, at: other) else { continue }
            let found = timeline(of: next)
            if let found { timelines.note(found) }
            if let found, !timelines.isOutdated(found, server: shown(next)) { return (next, found) }
            PQfinish(next)
        }
        throw PostgresError(message: "an old primary answers at \(server), and no other server takes writes", isConnectionLost: true)
    }

    /// Host and port of the server that has a session.
    static func shown(_ handle: OpaquePointer) -> String {
        let text = { (value: UnsafeMutablePointer<CChar>?) in value.map { String(cString: $0) } ?? "" }
        return "\(text(PQhost(handle))):\(text(PQport(handle)))"
    }

    /// The hosts of an address but for the one that has a session.
    private static func others(_ address: PostgresAddress, _ handle: OpaquePointer) -> [PostgresAddress.Place] {
        guard address.places.count > 1 else { return [] }
        let own = shown(handle)
        return address.places.filter { "\($0.host.isEmpty ? $0.hostAddress : $0.host):\($0.port.isEmpty ? "5432" : $0.port)" != own }
    }

    /// Notes the timeline of a host that takes writes. One that does not answer within two seconds is passed over.
    private static func look(at place: PostgresAddress.Place, _ address: PostgresAddress, _ settings: PostgresSettings) {
        guard let handle = try? connect(address, settings, at: place, [("connect_timeout", "2"), ("target_session_attrs", "any")]) else {
            return
        }
        defer { PQfinish(handle) }
        if let found = timeline(of: handle) { PostgresTimelines.shared.note(found) }
    }

    /// Nil for a standby, and for a server that does not say.
    private static func timeline(of handle: OpaquePointer) -> PostgresTimelines.Place? {
        guard let result = PQexec(handle, PostgresTimelines.question) else { return nil }
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_TUPLES_OK, PQntuples(result) == 1 else { return nil }
        let number = { (column: Int32) in
            PQgetisnull(result, 0, column) == 1 ? nil : PQgetvalue(result, 0, column).flatMap { Int64(String(cString: $0)) }
        }
        guard let system = number(0), let timeline = number(1) else { return nil }
        return PostgresTimelines.Place(system: system, timeline: timeline)
    }

    private static func connect(
        _ address: PostgresAddress, _ settings: PostgresSettings, at place: PostgresAddress.Place? = nil, _ more: [(String, String)] = []
    ) throws(PostgresError) -> OpaquePointer {
        let host = place.map { [("host", $0.host), ("hostaddr", $0.hostAddress), ("port", $0.port)] } ?? []
        let handle = withParameters(address, settings, host + more) { PQconnectdbParams($0, $1, 1) }
        guard let handle else { throw PostgresError(message: "there is no memory left for a connection") }
        do throws(PostgresError) {
            guard PQstatus(handle) == CONNECTION_OK else {
                let message = address.concealing(String(cString: PQerrorMessage(handle)))
                // libpq keeps the SQLSTATE of a refusal to itself, but for those who ask for it beforehand.
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
        // Otherwise libpq prints notices to standard error.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        let version = PQserverVersion(handle)
        guard version >= oldest else {
            let shown = "\(version / 10_000).\(version % 10_000)"
            throw PostgresError(code: "0A000", message: "the server is PostgreSQL \(shown); 15 or later is needed")
        }
        let encoding = PQparameterStatus(handle, "server_encoding").map { String(cString: $0) } ?? "unknown"
        guard encoding == "UTF8" else {
            throw PostgresError(
                code: "22021",
                message: "the database's encoding is \(encoding); make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0")
        }
    }

    /// The SQLSTATE of what a server refuses a session with; empty where there is none.
    private static func refusal(_ address: PostgresAddress, _ settings: PostgresSettings) -> String {
        guard let handle = withParameters(address, settings, [], { PQconnectStartParams($0, $1, 1) }) else { return "" }
        defer { PQfinish(handle) }
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        let deadline = ContinuousClock.now + .seconds(5)
        var step = PGRES_POLLING_WRITING
        while step == PGRES_POLLING_WRITING || step == PGRES_POLLING_READING, ContinuousClock.now < deadline {
            let events = Int16(step == PGRES_POLLING_READING ? POLLIN : POLLOUT)
            var poller = pollfd(fd: PQsocket(handle), events: events, revents: 0)
            poll(&poller, 1, 100)
            if poller.revents != 0 { step = PQconnectPoll(handle) }
        }
        // `FATAL:  28P01: password authentication failed …`
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
            // What a machine that has gone holds locked is free five seconds later.
            + " -c tcp_keepalives_idle=2 -c tcp_keepalives_interval=1 -c tcp_keepalives_count=3 -c tcp_user_timeout=5000"
            + (settings.plansOnce ? " -c plan_cache_mode=force_generic_plan" : "")
        // What stands before the address holds unless that says something else.
        let parameters =
            [
                ("connect_timeout", "5"), ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
                ("tcp_user_timeout", "10000"), ("fallback_application_name", settings.applicationName),
                ("options", options),
                ("dbname", address.uri), ("client_encoding", "UTF8"),
            ] + overriding
        let keywords = parameters.map { strdup($0.0) }
        let values = parameters.map { strdup($0.1) }
        defer { for text in keywords + values { free(text) } }
        return body(keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil])
    }
}
