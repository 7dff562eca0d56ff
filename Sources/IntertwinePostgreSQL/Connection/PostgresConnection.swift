internal import CPostgreSQL
internal import Glibc
internal import IntertwinePrimitives
package import IntertwineStorageCore
internal import Synchronization

/// The time since a server has stopped responding to the listener for changes, which asks five times a second.
/// Why: a frozen server keeps its connections open. Without this, each session would find out by a timeout of seconds, on a thread that
/// others wait for.
package final class PostgresPulse: Sendable {
    static let patience = Duration.milliseconds(500)
    private static let limit = Duration.seconds(1)

    private let since = Mutex<ContinuousClock.Instant?>(nil)

    package init() {}

    var isSilent: Bool { since.withLock { $0 != nil } }

    var isGone: Bool { since.withLock { $0.map { .now - $0 > Self.limit } ?? false } }

    func set(isSilent: Bool) { since.withLock { $0 = isSilent ? $0 ?? .now : nil } }
}

package struct PipelinedQuery {
    fileprivate let awaited: [PostgresConnection.Awaited]
}

/// A session with a PostgreSQL server. Its calls block, so it belongs on threads that may block.
/// `@unchecked Sendable`: one thread at a time uses it, which ``PostgresPool`` ensures.
package final class PostgresConnection: @unchecked Sendable {
    fileprivate struct Prepared {
        var name: String
        var types: [UInt32]
    }

    fileprivate enum Awaited {
        case preparation(of: String, Prepared)
        case rows
    }

    private final class Warnings {
        var isUnconfirmed = false
    }

    private let handle: OpaquePointer
    /// Read once, because libpq has none for a lost connection.
    package let backend: Int32
    private let timeline: PostgresTimelines.TimelinePosition?
    private let address: PostgresAddress
    private let pulse: PostgresPulse?
    private let warnings = Warnings()
    private var responseTimeout: Duration?
    var followed: LSN?
    private var statements: [String: Prepared] = [:]
    private var lastName = 0
    private var posted: [[Awaited]] = []

    init(
        _ address: PostgresAddress, _ settings: PostgresSettings = PostgresSettings(), pulse: PostgresPulse? = nil
    ) throws(PostgresError) {
        (handle, timeline) = try PendingSession.open(address, settings, pulse)
        backend = PQbackendPID(handle)
        self.pulse = pulse
        self.address = address
        let timeout = settings.statementTimeout ?? address.statementTimeout
        responseTimeout = timeout > .zero ? timeout + .seconds(1) : nil
        PQsetNoticeReceiver(
            handle,
            { warnings, notice in
                guard let warnings, let name = PQresultErrorField(notice, Int32(UInt8(ascii: "R"))) else { return }
                // The text of the warning depends on the server's language, and the warning has no code.
                guard strcmp(name, "SyncRepWaitForLSN") == 0 else { return }
                Unmanaged<Warnings>.fromOpaque(warnings).takeUnretainedValue().isUnconfirmed = true
            }, Unmanaged.passUnretained(warnings).toOpaque())
        // Overrides the defaults of role and database. This comes first, as a standby takes no serializable snapshot.
        let isolation = settings.readsOneState ? "repeatable read" : "read committed"
        // Compilation would take longer than the statements, which are short.
        try execute("SET default_transaction_isolation = '\(isolation)'; SET standard_conforming_strings = on; SET jit = off")
        // An acknowledged write is on the server's disk. Stronger settings, such as remote_apply, remain.
        try execute("SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'")
    }

    deinit {
        PQfinish(handle)
    }

    var isReusable: Bool {
        guard PQstatus(handle) == CONNECTION_OK else { return false }
        // The posted statements may include the end of the transaction.
        if !posted.isEmpty { return true }
        return PQtransactionStatus(handle) == PQTRANS_IDLE
    }

    package var isAlive: Bool {
        // The final messages arrive before the connection closes.
        while hasInput(within: 0) {
            guard PQconsumeInput(handle) == 1 else { return false }
        }
        return PQstatus(handle) == CONNECTION_OK && !isOutdated
    }

    private var isOutdated: Bool {
        timeline.map { PostgresTimelines.shared.isOutdated($0, server: PostgresSession.shown(handle)) } ?? false
    }

    // MARK: Statements

    @discardableResult
    package func query(_ text: String, _ values: SQLValue...) throws(PostgresError) -> PostgresRows {
        let rows = try run([SQLCommand(text, values)])
        guard let first = rows.first else { throw PostgresError(message: "the server sent no response", isConnectionLost: true) }
        return first
    }

    @discardableResult
    package func run(_ commands: [SQLCommand]) throws(PostgresError) -> [PostgresRows] {
        try results(of: ask(commands))
    }

    package func ask(_ commands: [SQLCommand]) throws(PostgresError) -> PipelinedQuery {
        try drainPipeline()
        return PipelinedQuery(awaited: try send(commands))
    }

    /// Call it once for each handle.
    package func results(of question: PipelinedQuery) throws(PostgresError) -> [PostgresRows] { try receive(question.awaited) }

    package func post(_ commands: [SQLCommand]) throws(PostgresError) {
        posted.append(try send(commands))
    }

    package func execute(_ script: String) throws(PostgresError) {
        try exitPipeline()
        guard PQsendQuery(handle, script) == 1 else { throw failure(nil) }
        var fault: PostgresError?
        while let result = try next() {
            defer { PQclear(result) }
            let isFine = [PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY].contains(PQresultStatus(result))
            if !isFine, fault == nil { fault = failure(result) }
        }
        if let fault { throw fault }
        try checkConfirmed()
    }

    /// A serialization failure or deadlock repeats it after a short random delay, up to five attempts.
    /// Its only lasting effect must be its writes to this connection.
    package func transaction<Value>(
        isolation: String = "READ COMMITTED", isLong: Bool = false, _ body: () throws -> Value
    ) throws -> Value {
        let usual = responseTimeout
        if isLong { responseTimeout = nil }
        defer { responseTimeout = usual }
        var attempt = 1
        while true {
            do {
                try run(
                    [SQLCommand("BEGIN ISOLATION LEVEL \(isolation)")]
                        + (isLong ? [SQLCommand("SET LOCAL statement_timeout = 0")] : []))
                let value = try body()
                try commit()
                return value
            } catch {
                // If this fails, the session has ended, and its transaction with it.
                if PQtransactionStatus(handle) != PQTRANS_IDLE { _ = try? execute("ROLLBACK") }
                guard let failure = error as? PostgresError, failure.isRepeatable, attempt < 5 else { throw error }
                usleep(UInt32.random(in: 1_000...10_000) * UInt32(attempt))
                attempt += 1
            }
        }
    }

    func commit() throws(PostgresError) {
        do throws(PostgresError) {
            try run([SQLCommand("COMMIT")])
        } catch {
            var error = error
            error.isUncertain = error.isEndOfSession
            throw error
        }
    }

    // MARK: Notifications

    package func notifications(within milliseconds: Int32) throws(PostgresError) -> [Int32] {
        let known = drainNotifications()
        guard known.isEmpty, hasInput(within: milliseconds) else { return known }
        guard PQconsumeInput(handle) == 1 else { throw failure(nil) }
        return drainNotifications()
    }

    func awaitResult(within milliseconds: Int32) throws(PostgresError) -> Bool {
        try drainPipeline()
        try post([SQLCommand("SELECT 1")])
        guard hasResult(within: .milliseconds(Int(milliseconds))) else { return false }
        try drainPipeline()
        return true
    }

    private func drainNotifications() -> [Int32] {
        var backends: [Int32] = []
        while let notification = PQnotifies(handle) {
            backends.append(notification.pointee.be_pid)
            PQfreemem(notification)
        }
        return backends
    }

    private func hasInput(within milliseconds: Int32) -> Bool {
        var poller = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        return poll(&poller, 1, milliseconds) > 0
    }

    // MARK: The pipeline

    private func send(_ commands: [SQLCommand]) throws(PostgresError) -> [Awaited] {
        guard PQpipelineStatus(handle) != PQ_PIPELINE_OFF || PQenterPipelineMode(handle) == 1 else { throw failure(nil) }
        var awaited: [Awaited] = []
        var new: [String: Prepared] = [:]
        for command in commands {
            let types = command.values.map(\.type)
            let statement: Prepared
            if let known = new[command.text] ?? statements[command.text], known.types == types {
                statement = known
            } else {
                lastName += 1
                statement = Prepared(name: "s\(lastName)", types: types)
                guard PQsendPrepare(handle, statement.name, Self.translated(command.text), Int32(types.count), types) == 1 else {
                    throw failure(nil)
                }
                new[command.text] = statement
                awaited.append(.preparation(of: command.text, statement))
            }
            guard send(statement.name, command.values) else { throw failure(nil) }
            awaited.append(.rows)
        }
        guard PQpipelineSync(handle) == 1 else { throw failure(nil) }
        return awaited
    }

    private static func translated(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "?")) else { return text }
        var bytes = Array(text.utf8)
        for index in bytes.indices.dropLast() where bytes[index] == UInt8(ascii: "?") {
            if (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(bytes[index + 1]) { bytes[index] = UInt8(ascii: "$") }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func send(_ name: String, _ values: [SQLValue]) -> Bool {
        // All values in one buffer, each addressed by its offset. NULL has no offset.
        var bytes: [UInt8] = []
        let spans = values.map { value in
            let start = bytes.count
            return value.write(to: &bytes) ? start..<bytes.count : nil
        }
        // The buffer must not be empty: an empty value without an address would be NULL.
        bytes.append(0)
        let formats = [Int32](repeating: 1, count: values.count)
        return bytes.withUnsafeBytes { buffer in
            let pointers = spans.map { span in
                span.flatMap { buffer.baseAddress?.advanced(by: $0.lowerBound).assumingMemoryBound(to: CChar.self) }
            }
            let lengths = spans.map { Int32(clamping: $0?.count ?? 0) }
            return PQsendQueryPrepared(handle, name, Int32(values.count), pointers, lengths, formats, 1) == 1
        }
    }

    private func receive(_ awaited: [Awaited]) throws(PostgresError) -> [PostgresRows] {
        var answers: [PostgresRows] = []
        var fault: PostgresError?
        for expected in awaited {
            let result = try nextResult()
            let status = result.map { PQresultStatus($0) }
            if let result, status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK {
                if case .preparation(let text, let statement) = expected {
                    statements[text] = statement
                    PQclear(result)
                } else {
                    answers.append(PostgresRows(result))
                }
                continue
            }
            if fault == nil, status != PGRES_PIPELINE_ABORTED { fault = failure(result) }
            PQclear(result)
            guard PQstatus(handle) == CONNECTION_OK else { break }
        }
        guard PQstatus(handle) == CONNECTION_OK else { throw fault ?? failure(nil) }
        let sync = try next()
        defer { PQclear(sync) }
        if let fault { throw fault }
        guard let sync, PQresultStatus(sync) == PGRES_PIPELINE_SYNC else { throw failure(sync) }
        try checkConfirmed()
        return answers
    }

    private func nextResult() throws(PostgresError) -> OpaquePointer? {
        guard let result = try next() else { return nil }
        do throws(PostgresError) {
            while PQstatus(handle) == CONNECTION_OK, let more = try next() { PQclear(more) }
        } catch {
            PQclear(result)
            throw error
        }
        return result
    }

    private func next() throws(PostgresError) -> OpaquePointer? {
        if let responseTimeout, !hasResult(within: responseTimeout) { throw end("the server does not respond") }
        return PQgetResult(handle)
    }

    private func hasResult(within time: Duration) -> Bool {
        guard PQisBusy(handle) == 1 else { return true }
        let deadline = ContinuousClock.now + time
        while PQisBusy(handle) == 1 {
            let rest = deadline - .now
            guard rest >= .zero, time - rest < PostgresPulse.patience || pulse?.isSilent != true else { return false }
            guard hasInput(within: Int32(clamping: min(pulse == nil ? rest.milliseconds : 50, rest.milliseconds) + 1)) else { continue }
            guard PQconsumeInput(handle) == 1 else { return true }
        }
        return true
    }

    private func checkConfirmed() throws(PostgresError) {
        guard !isOutdated else { throw end("another server has become the primary") }
        guard warnings.isUnconfirmed else { return }
        throw end("no standby of synchronous_standby_names confirms writes")
    }

    private func end(_ reason: String) -> PostgresError {
        shutdown(PQsocket(handle), Int32(SHUT_RDWR))
        _ = PQconsumeInput(handle)
        return PostgresError(message: reason, isConnectionLost: true)
    }

    /// Their errors are ignored, unless the session has ended.
    private func drainPipeline() throws(PostgresError) {
        while !posted.isEmpty {
            let awaited = posted.removeFirst()
            do throws(PostgresError) {
                _ = try receive(awaited)
            } catch {
                guard !error.isConnectionLost else { throw error }
            }
        }
    }

    private func exitPipeline() throws(PostgresError) {
        try drainPipeline()
        guard PQpipelineStatus(handle) == PQ_PIPELINE_OFF || PQexitPipelineMode(handle) == 1 else { throw failure(nil) }
    }

    private func failure(_ result: OpaquePointer?) -> PostgresError {
        let field = { (code: Int32) in result.flatMap { PQresultErrorField($0, code) }.map { String(cString: $0) } }
        let message = field(Int32(UInt8(ascii: "M"))) ?? PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        let code = field(Int32(UInt8(ascii: "C"))) ?? ""
        // A server that shuts down reports so before the connection closes.
        let isOver = code.isEmpty || code.hasPrefix("57P0") || PQstatus(handle) != CONNECTION_OK
        return PostgresError(
            code: code, message: address.concealing(message.isEmpty ? "the server sent no response" : message), isConnectionLost: isOver)
    }
}
