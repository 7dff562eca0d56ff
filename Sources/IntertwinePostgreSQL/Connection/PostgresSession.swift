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
    static func open(_ address: PostgresAddress, _ settings: PostgresSettings) throws(PostgresError) -> OpaquePointer {
        let handle = withParameters(address, settings) { PQconnectdbParams($0, $1, 1) }
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
        guard let handle = withParameters(address, settings, { PQconnectStartParams($0, $1, 1) }) else { return "" }
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
        _ address: PostgresAddress, _ settings: PostgresSettings,
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
        let parameters = [
            ("connect_timeout", "5"), ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "10000"), ("fallback_application_name", settings.applicationName),
            ("options", options),
            ("dbname", address.uri), ("client_encoding", "UTF8"),
        ]
        let keywords = parameters.map { strdup($0.0) }
        let values = parameters.map { strdup($0.1) }
        defer { for text in keywords + values { free(text) } }
        return body(keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil])
    }
}
