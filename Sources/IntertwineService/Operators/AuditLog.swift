internal import Dispatch
internal import Foundation
internal import IntertwineFeed
internal import IntertwinePrimitives
internal import Synchronization

/// The append-only record of the writes of operators: one line of JSON for each, on disk before the response is sent.
///
/// An action that cannot be recorded is not performed. Before an action begins, disk space for its line is reserved, and a journal beside the
/// log records the action. If the process ends before the line is written, the next process that opens the log writes it with the outcome
/// `interrupted`. Blocking calls run on a queue of the log. Lines that arrive together share one write to the disk.
///
/// ```swift
/// let log = try AuditLog(path: "/var/log/intertwine/audit.ndjson")
/// let action = try await log.begin(entry)
/// try await log.finish(action, outcome: "done", now: now)
/// ```
public final class AuditLog: Sendable {
    /// The outcome of an action whose process ended before it recorded one.
    static let interrupted = "interrupted: it is not known whether it was done"
    /// The maximum number of queued refusals; further ones get no line.
    private static let waitingLimit = 4_096

    /// An action in progress, whose line is not written yet.
    public struct AuditAction: Sendable {
        fileprivate let entry: AuditEntry

        fileprivate func over(_ outcome: String, _ now: Int64) -> AuditEntry {
            var over = AuditEntry(who: entry.who, method: entry.method, path: entry.path, outcome: outcome, now: now)
            over.id = entry.id
            return over
        }
    }

    private enum Job {
        case begin(AuditEntry, CheckedContinuation<Void, any Error>)
        case finish(AuditEntry, CheckedContinuation<Void, any Error>)
        case refused(AuditEntry)
    }

    private let queue = DispatchQueue(label: "intertwine.audit")
    private let jobs = Mutex<[Job]>([])
    private let writer: AuditWriter

    /// Opens the log, and writes the lines that ended processes could not write.
    ///
    /// - Throws: `ConfigurationError` if the log cannot be written.
    public init(path: String) throws(ConfigurationError) {
        do {
            writer = try AuditWriter(path: path)
        } catch {
            throw ConfigurationError("\(path): the audit log cannot be written: \(error.reason)")
        }
    }

    /// Records the begin of an action. Call it before the action changes anything.
    ///
    /// ```swift
    /// let entry = AuditEntry(who: "root", method: "PUT", path: "/items/7", outcome: "", now: now)
    /// let action = try await log.begin(entry)
    /// ```
    ///
    /// - Parameter entry: The actor and the action; the outcome follows in `finish`.
    /// - Throws: `StoreError.unavailable` if the action could not be recorded; it must not be performed then.
    public func begin(_ entry: AuditEntry) async throws -> AuditAction {
        var entry = entry
        entry.id = Hexadecimal.text(withUnsafeBytes(of: UInt64.random(in: .min ... .max)) { Array($0) })
        entry.outcome = Self.interrupted
        let begun = entry
        try await withCheckedThrowingContinuation { submit(.begin(begun, $0)) }
        return AuditAction(entry: begun)
    }

    /// Records the end of an action, whether it was performed or not.
    ///
    /// - Throws: `StoreError.unavailable` if the disk did not accept the line. The write is retried before the next action.
    public func finish(_ deed: AuditAction, status: Int? = nil, outcome: String, context: AuditContext? = nil, now: Int64) async throws {
        var entry = deed.over(outcome, now)
        entry.status = status
        context?.add(to: &entry)
        let finished = entry
        try await withCheckedThrowingContinuation { submit(.finish(finished, $0)) }
    }

    /// Performs an action of a command and records it.
    ///
    /// ```swift
    /// try await log.record(who: "root", method: "purge", path: "item:7", now: { now }) { context in
    ///     context.record(["removed": 1], items: ["item:7"])
    /// }
    /// await log.close()
    /// ```
    ///
    /// - Parameter now: Milliseconds since 1970-01-01 UTC.
    /// - Throws: The error of `body`, after it is recorded; `StoreError.unavailable` if nothing can be recorded, in which case `body` did not run.
    public func record<Value>(
        who: String, method: String, path: String, now: @escaping @Sendable () -> Int64, _ body: (AuditContext) async throws -> Value
    ) async throws -> Value {
        let deed = try await begin(AuditEntry(who: who, method: method, path: path, outcome: "", now: now()))
        let note = AuditContext { [self] in recordAborted(deed, now: now()) }
        let value: Value
        do {
            value = try await body(note)
        } catch {
            try? await finish(deed, outcome: Self.outcome(error), context: note, now: now())
            throw error
        }
        do {
            try await finish(deed, outcome: "done", context: note, now: now())
        } catch {
            throw StoreError.unavailable("it was done, but the audit log does not say so: \(error)")
        }
        return value
    }

    private static func outcome(_ error: any Error) -> String {
        if case StoreError.uncertain? = error as? StoreError { "\(error)" } else { "not done: \(error)" }
    }

    /// Records that an action was not performed because the process ends. If the disk refuses the line, the next process writes it.
    private func recordAborted(_ deed: AuditAction, now: Int64) {
        queue.sync {
            flush()
            try? writer.append([deed.over("not done: interrupted", now)], waitsForDisk: true)
            writer.close()
        }
    }

    /// Queues a line about a refused request without waiting for the disk. Nothing was changed.
    func refuse(_ entry: AuditEntry) {
        submit(.refused(entry))
    }

    /// Writes all pending lines and removes the journal.
    public func close() async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                flush()
                writer.close()
                continuation.resume()
            }
        }
    }

    private func submit(_ job: Job) {
        let isFirst = jobs.withLock { jobs in
            if case .refused = job, jobs.count >= Self.waitingLimit { return false }
            jobs.append(job)
            return jobs.count == 1
        }
        if isFirst { queue.async { self.flush() } }
    }

    /// Writes everything that is queued, on the queue: one write for ended actions and one for those that begin.
    private func flush() {
        let jobs = jobs.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        var (over, begun): ([AuditEntry], [AuditEntry]) = ([], [])
        var isAwaited = false
        for job in jobs {
            switch job {
            case .begin(let entry, _): begun.append(entry)
            case .finish(let entry, _):
                isAwaited = true
                over.append(entry)
            case .refused(let entry): over.append(entry)
            }
        }
        let written = Result { () throws(StoreError) in try writer.append(over, waitsForDisk: isAwaited) }
        let prepared = Result { () throws(StoreError) in try writer.prepare(begun) }
        for job in jobs {
            switch job {
            case .begin(_, let continuation): continuation.resume(with: prepared.mapError { $0 as any Error })
            case .finish(_, let continuation): continuation.resume(with: written.mapError { $0 as any Error })
            case .refused: break
            }
        }
    }
}
