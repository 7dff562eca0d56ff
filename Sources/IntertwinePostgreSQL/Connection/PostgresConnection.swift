internal import CPostgreSQL
internal import Glibc

/// A statement with the values of its parameters, `$1` and so on.
package struct PostgresCommand: Sendable {
    package var text: String
    package var values: [PostgresValue]

    /// - Parameters:
    ///   - text: one statement; each connection prepares a text once, so it must not be made of values.
    ///   - values: of the same types each time, or it is prepared anew.
    package init(_ text: String, _ values: [PostgresValue] = []) {
        self.text = text
        self.values = values
    }
}

/// Statements that were sent together.
package struct PipelinedQuery {
    fileprivate let awaited: [PostgresConnection.Awaited]
}

/// One session with a PostgreSQL server. Its calls block: it belongs on threads that may.
///
/// Statements go by libpq's pipeline, in which several take one round trip together. Outside of a transaction those that are run together
/// are one: all of them or, at the first that fails, none.
///
/// `@unchecked Sendable`: it is in the hands of one thread at a time, which ``PostgresPool`` sees to.
package final class PostgresConnection: @unchecked Sendable {
    fileprivate struct Prepared {
        var name: String
        /// Of the parameters.
        var types: [UInt32]
    }

    /// What the server still owes an answer to.
    fileprivate enum Awaited {
        case preparation(of: String, Prepared)
        case rows
    }

    /// What the server warned of.
    private final class Warnings {
        /// A commit is on its own disk, and it gave up waiting for the standbys that it has to be on as well.
        var isUnconfirmed = false
    }

    private let handle: OpaquePointer
    /// Of its server; nil where that is a standby.
    private let timeline: PostgresTimelines.Place?
    private let address: PostgresAddress
    private let warnings = Warnings()
    /// How long the server may take for an answer, which it cuts short a little earlier: more is the network's doing. Nil for ever.
    private var responseTimeout: Duration?
    /// How far the server had followed its primary when that was last asked for, should it be a standby.
    var followed: LSN?
    /// By text, what is prepared.
    private var statements: [String: Prepared] = [:]
    private var lastName = 0
    /// Groups of statements that were sent, and whose answers nobody has looked at.
    private var posted: [[Awaited]] = []

    /// - Throws: what kept every host from taking the session; ``PostgresError/code`` tells refusals.
    package init(_ address: PostgresAddress, _ settings: PostgresSettings = PostgresSettings()) throws(PostgresError) {
        (handle, timeline) = try PostgresSession.open(address, settings)
        self.address = address
        let timeout = settings.statementTimeout ?? address.statementTimeout
        responseTimeout = timeout > .zero ? timeout + .seconds(1) : nil
        PQsetNoticeReceiver(
            handle,
            { warnings, notice in
                guard let warnings, let name = PQresultErrorField(notice, Int32(UInt8(ascii: "R"))) else { return }
                // Its text is in the server's language, and it has no code of its own.
                guard strcmp(name, "SyncRepWaitForLSN") == 0 else { return }
                Unmanaged<Warnings>.fromOpaque(warnings).takeUnretainedValue().isUnconfirmed = true
            }, Unmanaged.passUnretained(warnings).toOpaque())
        // Whatever is usual for the role or the database. First, as a standby takes no snapshot that is to be serializable.
        let isolation = settings.readsOneState ? "repeatable read" : "read committed"
        try execute("SET default_transaction_isolation = '\(isolation)'; SET standard_conforming_strings = on")
        // An answered write is on the server's disk. What goes further, such as remote_apply, stays.
        try execute("SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'")
    }

    deinit {
        PQfinish(handle)
    }

    /// The number of the server's process that has the session.
    package var backend: Int32 { PQbackendPID(handle) }

    /// Whether it can be used again by somebody else: the session goes on, and no transaction is open.
    package var isReusable: Bool {
        guard PQstatus(handle) == CONNECTION_OK else { return false }
        // What was posted last may be the end of the transaction.
        if !posted.isEmpty { return true }
        return PQtransactionStatus(handle) == PQTRANS_IDLE
    }

    /// Whether the session goes on as far as can be told without asking: a server that ends one says so, and that lies in the socket.
    package var isAlive: Bool {
        // Its last words come before the end itself.
        while hasInput(within: 0) {
            guard PQconsumeInput(handle) == 1 else { return false }
        }
        return PQstatus(handle) == CONNECTION_OK && !isOutdated
    }

    /// Whether its server is an old primary, which another one has taken the place of.
    private var isOutdated: Bool {
        timeline.map { PostgresTimelines.shared.isOutdated($0, server: PostgresSession.shown(handle)) } ?? false
    }

    // MARK: Statements

    /// Runs one statement, and waits for its answer.
    @discardableResult
    package func query(_ text: String, _ values: PostgresValue...) throws(PostgresError) -> PostgresRows {
        let rows = try run([PostgresCommand(text, values)])
        guard let first = rows.first else { throw PostgresError(message: "the server gave no answer", isConnectionLost: true) }
        return first
    }

    /// Runs statements one after another, in one round trip.
    ///
    /// - Returns: the answer of each.
    @discardableResult
    package func run(_ commands: [PostgresCommand]) throws(PostgresError) -> [PostgresRows] {
        try results(of: ask(commands))
    }

    /// Sends statements whose answers are waited for later, by ``answers(to:)``: before that the connection is asked nothing else.
    package func ask(_ commands: [PostgresCommand]) throws(PostgresError) -> PipelinedQuery {
        try drainPipeline()
        return PipelinedQuery(awaited: try send(commands))
    }

    /// Waits for what was asked, once.
    package func results(of question: PipelinedQuery) throws(PostgresError) -> [PostgresRows] { try receive(question.awaited) }

    /// Sends statements and does not wait: what becomes of them is seen by whoever uses the connection next, and told to nobody.
    package func post(_ commands: [PostgresCommand]) throws(PostgresError) {
        posted.append(try send(commands))
    }

    /// Runs a script of several statements, without parameters; the answer is of no interest.
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

    /// Begins to fill a table: rows go to the server as they come, and are there when ``PostgresCopy/end()`` returns. Until then the
    /// connection does nothing else.
    ///
    /// - Parameter statement: `COPY … FROM STDIN (FORMAT binary)`
    package func copy(_ statement: String) throws(PostgresError) -> PostgresCopy {
        try exitPipeline()
        guard let result = PQexec(handle, statement) else { throw failure(nil) }
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COPY_IN else { throw failure(result) }
        return PostgresCopy(self)
    }

    /// Does `body` in a transaction, and all of it anew, after a short random time, where it was in the way of another one: five times at
    /// most.
    ///
    /// - Parameters:
    ///   - isLong: whether its statements may take as long as they like.
    ///   - body: run once for each attempt; nothing of it may stay but what it writes here.
    /// - Throws: what `body` throws, or ``PostgresError``; nothing was written then, unless the connection was lost at the very end.
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
                    [PostgresCommand("BEGIN ISOLATION LEVEL \(isolation)")]
                        + (isLong ? [PostgresCommand("SET LOCAL statement_timeout = 0")] : []))
                let value = try body()
                try run([PostgresCommand("COMMIT")])
                return value
            } catch {
                // If this fails there is no session any more, and no transaction.
                if PQtransactionStatus(handle) != PQTRANS_IDLE { _ = try? execute("ROLLBACK") }
                guard let failure = error as? PostgresError, failure.isRepeatable, attempt < 5 else { throw error }
                usleep(UInt32.random(in: 1_000...10_000) * UInt32(attempt))
                attempt += 1
            }
        }
    }

    // MARK: Notifications

    /// Waits for what other sessions notify of, on the channels that this one listens to.
    ///
    /// - Returns: for each notification, the ``backend`` that made it; none when the time is over.
    package func notifications(within milliseconds: Int32) throws(PostgresError) -> [Int32] {
        let known = drainNotifications()
        guard known.isEmpty, hasInput(within: milliseconds) else { return known }
        guard PQconsumeInput(handle) == 1 else { throw failure(nil) }
        return drainNotifications()
    }

    /// Asks the server for a sign of life.
    package func awaitResult(within milliseconds: Int32) throws(PostgresError) -> Bool {
        try drainPipeline()
        try post([PostgresCommand("SELECT 1")])
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

    private func send(_ commands: [PostgresCommand]) throws(PostgresError) -> [Awaited] {
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
                guard PQsendPrepare(handle, statement.name, command.text, Int32(types.count), types) == 1 else { throw failure(nil) }
                new[command.text] = statement
                awaited.append(.preparation(of: command.text, statement))
            }
            guard send(statement.name, command.values) else { throw failure(nil) }
            awaited.append(.rows)
        }
        guard PQpipelineSync(handle) == 1 else { throw failure(nil) }
        return awaited
    }

    private func send(_ name: String, _ values: [PostgresValue]) -> Bool {
        // All values in one stretch of memory, each by its place there; NULL has none.
        var bytes: [UInt8] = []
        let spans = values.map { value in
            let start = bytes.count
            return value.write(to: &bytes) ? start..<bytes.count : nil
        }
        // An empty value is none without an address.
        bytes.append(0)
        let formats = [Int32](repeating: 1, count: values.count)
        return bytes.withUnsafeBytes { buffer in
            let places = spans.map { span in
                span.flatMap { buffer.baseAddress?.advanced(by: $0.lowerBound).assumingMemoryBound(to: CChar.self) }
            }
            let lengths = spans.map { Int32(clamping: $0?.count ?? 0) }
            return PQsendQueryPrepared(handle, name, Int32(values.count), places, lengths, formats, 1) == 1
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

    /// The answer of one statement, to its end.
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
        if let responseTimeout, !hasResult(within: responseTimeout) { throw end("the server does not answer") }
        return PQgetResult(handle)
    }

    /// False where no answer comes in time. One that says that there is no server any more is an answer.
    private func hasResult(within time: Duration) -> Bool {
        guard PQisBusy(handle) == 1 else { return true }
        let deadline = ContinuousClock.now + time
        while PQisBusy(handle) == 1 {
            let rest = (deadline - .now).components
            guard rest.seconds >= 0, rest.attoseconds >= 0 else { return false }
            guard hasInput(within: Int32(clamping: rest.seconds * 1_000 + rest.attoseconds / 1_000_000_000_000_000) + 1) else { continue }
            guard PQconsumeInput(handle) == 1 else { return true }
        }
        return true
    }

    /// - Throws: where a standby did not confirm what was committed, so that it is lost with the server's disk, and where the server is an
    ///   old primary: nobody is told that it is done, as if the connection had been lost before the answer.
    private func checkConfirmed() throws(PostgresError) {
        guard !isOutdated else { throw end("another server has become the primary") }
        guard warnings.isUnconfirmed else { return }
        throw end("no standby of synchronous_standby_names confirms what is written")
    }

    /// Ends the session from here: nobody can make anything of what it is in the middle of.
    private func end(_ reason: String) -> PostgresError {
        shutdown(PQsocket(handle), Int32(SHUT_RDWR))
        _ = PQconsumeInput(handle)
        return PostgresError(message: reason, isConnectionLost: true)
    }

    /// Waits for what was posted. That it failed is of no interest, but for the session.
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

    // MARK: For copying

    func putCopy(_ bytes: [UInt8]) throws(PostgresError) {
        let isTaken = bytes.withUnsafeBytes { buffer in
            PQputCopyData(handle, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(clamping: buffer.count)) == 1
        }
        guard isTaken else { throw failure(nil) }
    }

    /// - Parameter reason: what the server is to call it off for; nil where it is complete.
    func endCopy(_ reason: String?) throws(PostgresError) -> Int {
        guard PQputCopyEnd(handle, reason) == 1, let result = try nextResult() else { throw failure(nil) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else {
            defer { PQclear(result) }
            throw failure(result)
        }
        return PostgresRows(result).affected
    }

    private func failure(_ result: OpaquePointer?) -> PostgresError {
        let field = { (code: Int32) in result.flatMap { PQresultErrorField($0, code) }.map { String(cString: $0) } }
        let message = field(Int32(UInt8(ascii: "M"))) ?? PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        let code = field(Int32(UInt8(ascii: "C"))) ?? ""
        // A server that ends says so before the connection does.
        let isOver = code.isEmpty || code.hasPrefix("57P0") || PQstatus(handle) != CONNECTION_OK
        return PostgresError(
            code: code, message: address.concealing(message.isEmpty ? "the server gave no answer" : message), isConnectionLost: isOver)
    }
}
