internal import Dispatch
internal import Glibc
internal import IntertwineFeed
internal import IntertwinePrimitives
internal import IntertwineStorage
internal import Synchronization

/// Makes something, and gets what a signal does about it. No signal comes between the two.
package typealias InterruptibleBegin = @Sendable (_ begin: () throws -> @Sendable () -> Void) throws -> Void

/// The append-only record of the writes of operators, as lines of JSON.
/// An interrupted action has the first line only, so a start has nothing to complete.
final class AuditLog: Sendable {
    /// The maximum number of entries of refused requests within ``refusalWindow``, and of an operator's actions that the store refuses. Why: a
    /// client chooses how many requests are refused.
    static let refusalLimit = 100
    static let refusalWindow = Duration.seconds(60)
    private static let operatorLimit = 4_096

    private struct Job {
        let line: [UInt8]
        let continuation: CheckedContinuation<Void, any Error>?
    }

    private struct Refusals {
        var end: ContinuousClock.Instant
        var count = 0
    }

    private let path: String
    private let now: @Sendable () -> ContinuousClock.Instant
    private let queue = DispatchQueue(label: "intertwine.audit")
    private let jobs = Mutex<[Job]>([])
    private let refusals: Mutex<Refusals>
    private let replenished = Mutex(BoundedCache<String, ContinuousClock.Instant>(limit: operatorLimit))

    init(path: String, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) throws(ConfigurationError) {
        (self.path, self.now) = (path, now)
        refusals = Mutex(Refusals(end: now() + Self.refusalWindow))
        do {
            try append([])
        } catch {
            throw ConfigurationError("the audit log cannot be written: \(error)")
        }
    }

    /// Call it before the action changes anything.
    /// `StoreError.unavailable` if the action could not be recorded; it must not be performed then.
    func begin(_ entry: AuditEntry) async throws -> AuditEntry {
        let entry = Self.begun(entry)
        try await write(entry)
        return entry
    }

    private static func begun(_ entry: AuditEntry) -> AuditEntry {
        var entry = entry
        entry.id = Hexadecimal.text(withUnsafeBytes(of: UInt64.random(in: .min ... .max)) { Array($0) })
        entry.outcome = "begun"
        return entry
    }

    private func write(_ entry: AuditEntry) async throws {
        let line = entry.line
        try await withCheckedThrowingContinuation { submit(Job(line: line, continuation: $0)) }
    }

    func finish(
        _ begun: AuditEntry, status: Int? = nil, outcome: String, context: AuditContext? = nil, now: Int64
    ) async throws {
        var entry = begun.ended(outcome, now)
        entry.status = status
        context?.add(to: &entry)
        do {
            try await write(entry)
        } catch {
            throw StoreError.unavailable("the audit log does not have the outcome '\(outcome)' of \(begun.method) \(begun.path): \(error)")
        }
    }

    /// `begins`: Gets what a signal writes. It is called before the entry is written, so that no signal leaves an entry without its outcome.
    func record<Value>(
        who: String, method: String, path: String, now: @escaping @Sendable () -> Int64, begins: InterruptibleBegin? = nil,
        _ body: (AuditContext) async throws -> Value
    ) async throws -> Value {
        let begun = Self.begun(AuditEntry(who: who, method: method, path: path, outcome: "", now: now()))
        try begins? { { [self] in queue.sync { try? append(begun.ended("not done: interrupted", now()).line) } } }
        try await write(begun)
        let context = AuditContext()
        let value: Value
        do {
            value = try await body(context)
        } catch {
            try? await finish(begun, outcome: Self.outcome(error), context: context, now: now())
            throw error
        }
        try await finish(begun, outcome: "done", context: context, now: now())
        return value
    }

    private static func outcome(_ error: any Error) -> String {
        if case StoreError.uncertain? = error as? StoreError { "\(error)" } else { "not done: \(error)" }
    }

    func refuse(_ entry: AuditEntry) {
        if let line = lineOfRefusal(entry) { submit(Job(line: line, continuation: nil)) }
    }

    func recordRefusal(_ entry: AuditEntry) async {
        guard let line = lineOfRefusal(entry) else { return }
        try? await withCheckedThrowingContinuation { submit(Job(line: line, continuation: $0)) }
    }

    private func lineOfRefusal(_ entry: AuditEntry) -> [UInt8]? {
        let now = now()
        let omitted: Int? = refusals.withLock { refusals in
            guard now < refusals.end else {
                defer { refusals = Refusals(end: now + Self.refusalWindow, count: 1) }
                return max(0, refusals.count - Self.refusalLimit)
            }
            refusals.count += 1
            return refusals.count <= Self.refusalLimit ? 0 : nil
        }
        guard let omitted else { return nil }
        var entry = entry
        if omitted > 0 { entry.outcome += "; \(omitted) refused requests before it have no entry" }
        return entry.line
    }

    /// Returns the whole seconds until an operator may begin an action, because the store refused too many; nil if that is now.
    func wait(of name: String) -> Int? {
        let now = now()
        guard let full = replenished.withLock({ $0[name] }), full - now > Self.refusalWindow - Self.refusalInterval else { return nil }
        return max(1, Int((full - now - Self.refusalWindow + Self.refusalInterval).components.seconds) + 1)
    }

    /// Concurrent ones count too, so that the average is bounded.
    func countRefusal(of name: String) {
        let now = now()
        replenished.withLock { $0[name] = max(now, $0[name] ?? now) + Self.refusalInterval }
    }

    private static let refusalInterval = refusalWindow / refusalLimit

    func close() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.flush()
                continuation.resume()
            }
        }
    }

    private func submit(_ job: Job) {
        let isFirst = jobs.withLock { jobs in
            jobs.append(job)
            return jobs.count == 1
        }
        if isFirst { queue.async { self.flush() } }
    }

    private func flush() {
        let jobs = jobs.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        let result = Result { try append(jobs.flatMap(\.line)) }
        for job in jobs { job.continuation?.resume(with: result) }
    }

    /// Appends lines to the file in one write, so that lines of two processes do not mix.
    /// The file is opened each time, because it may have been moved since the last write.
    private func append(_ lines: [UInt8]) throws {
        let isNew = access(path, F_OK) != 0
        let file = OwnedFile.open(path, O_RDWR | O_APPEND)
        guard file >= 0 else { throw fault() }
        defer { Glibc.close(file) }
        // An incomplete line, which a full disk or a power cut has left, would hide the next one.
        let end = Int(lseek(file, 0, SEEK_END))
        let isTorn = end > 0 && !lines.isEmpty && FileIO.read(file, 1, at: end - 1) != [UInt8(ascii: "\n")]
        let bytes = (isTorn ? [UInt8(ascii: "\n")] : []) + lines
        guard bytes.withUnsafeBytes({ FileIO.write($0, to: file) }) == bytes.count, fdatasync(file) == 0 || errno == EINVAL,
            !isNew || DurableFolder.sync(of: path)
        else { throw fault() }
    }

    private func fault() -> StoreError { .unavailable("\(path): \(OwnedFile.reason(path))") }
}
