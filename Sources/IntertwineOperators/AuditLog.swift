internal import Dispatch
internal import Foundation
public import IntertwineDeclarations
internal import IntertwineFeed
internal import IntertwinePrimitives
internal import Synchronization

/// The append-only record of what operators wrote: a line of JSON for each, on disk before the answer is sent.
///
/// Nothing is done that could not be recorded. Before something is done, there is room on the disk for its line, and a journal beside the
/// log says what it is: where the process ends before the line is written, whoever opens the log next writes it, with the outcome
/// `interrupted`. Everything blocking happens on a queue of the log's own; what comes at the same moment shares a write to the disk.
public final class AuditLog: Sendable {
    /// What stands for the outcome where nobody lived to tell it.
    static let interrupted = "interrupted: it is not known whether it was done"
    /// Refusals that may wait for the disk; what comes beyond has no line.
    private static let waitingLimit = 4_096

    /// Something that is being done, and whose line is still to come.
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

    /// Opens the log, and writes the lines that others could not write any more.
    ///
    /// - Throws: `ConfigurationError` where it cannot be written.
    public init(path: String) throws(ConfigurationError) {
        do {
            writer = try AuditWriter(path: path)
        } catch {
            throw ConfigurationError("\(path): the audit log cannot be written: \(error.reason)")
        }
    }

    /// To be called before anything is done.
    ///
    /// - Parameter entry: who does what; its outcome is still to come.
    /// - Throws: `StoreError.unavailable` where there would be no line of it: it must not be done then.
    public func begin(_ entry: AuditEntry) async throws -> AuditAction {
        var entry = entry
        entry.id = Hexadecimal.text(withUnsafeBytes(of: UInt64.random(in: .min ... .max)) { Array($0) })
        entry.outcome = Self.interrupted
        let begun = entry
        try await withCheckedThrowingContinuation { submit(.begin(begun, $0)) }
        return AuditAction(entry: begun)
    }

    /// To be called when something has been done, or has not been done after all.
    ///
    /// - Throws: `StoreError.unavailable` where the disk did not take the line after all. It is tried again before the next deed.
    public func finish(_ deed: AuditAction, status: Int? = nil, outcome: String, context: AuditContext? = nil, now: Int64) async throws {
        var entry = deed.over(outcome, now)
        entry.status = status
        context?.add(to: &entry)
        let finished = entry
        try await withCheckedThrowingContinuation { submit(.finish(finished, $0)) }
    }

    /// Does something that is to have a line, as a command does.
    ///
    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    /// - Throws: what `body` throws, after that is in the log; `StoreError.unavailable` where nothing can be recorded, and so nothing was done.
    public func record<Value>(
        who: String, method: String, path: String, now: @escaping @Sendable () -> Int64, _ body: (AuditContext) async throws -> Value
    ) async throws -> Value {
        let deed = try await begin(AuditEntry(who: who, method: method, path: path, outcome: "", now: now()))
        let note = AuditContext { [self] in recordAborted(deed, now: now()) }
        let value: Value
        do {
            value = try await body(note)
        } catch {
            try? await finish(deed, outcome: "not done: \(error)", context: note, now: now())
            throw error
        }
        do {
            try await finish(deed, outcome: "done", context: note, now: now())
        } catch {
            throw StoreError.unavailable("it was done, but the audit log does not say so: \(error)")
        }
        return value
    }

    /// The process is about to end, and what was begun is not done. What the disk does not take, whoever opens the log next says.
    private func recordAborted(_ deed: AuditAction, now: Int64) {
        queue.sync {
            flush()
            try? writer.append([deed.over("not done: interrupted", now)], waitsForDisk: true)
            writer.close()
        }
    }

    /// Has a line written of what was refused, and does not wait for it: nothing was changed.
    func refuse(_ entry: AuditEntry) {
        submit(.refused(entry))
    }

    /// Writes what is still to be written, and leaves no journal behind.
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

    /// On the queue: everything that waits, with one write to the disk for what is over and one for what begins.
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
