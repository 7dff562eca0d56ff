internal import IntertwineStorage
internal import Synchronization

final class SourceRegistry: Sendable {
    private struct SourceStatus {
        var state: SourceState
        var isRequested = false
        var sleep: Task<Void, Never>?
    }

    private let statuses: Mutex<[String: SourceStatus]>

    init(_ names: [String], now: Int64) {
        statuses = Mutex(
            Dictionary(names.map { ($0, SourceStatus(state: SourceState(since: now))) }, uniquingKeysWith: { first, _ in first }))
    }

    subscript(name: String) -> SourceState? {
        statuses.withLock { $0[name]?.state }
    }

    func update(_ name: String, _ body: (inout SourceState) -> Void) {
        statuses.withLock { entries in
            guard var entry = entries[name] else { return }
            body(&entry.state)
            entries[name] = entry
        }
    }

    func requestSync(_ name: String) -> Bool {
        statuses.withLock { entries in
            guard let entry = entries[name] else { return false }
            entries[name]?.isRequested = true
            entry.sleep?.cancel()
            return true
        }
    }

    func cooldown(_ name: String, for duration: Duration) async -> Bool {
        let nap = Task { _ = try? await Task.sleep(for: duration) }
        statuses.withLock { entries in
            entries[name]?.sleep = nap
            if entries[name]?.isRequested == true { nap.cancel() }
        }
        await withTaskCancellationHandler {
            await nap.value
        } onCancel: {
            nap.cancel()
        }
        return statuses.withLock { entries in
            entries[name]?.sleep = nil
            defer { entries[name]?.isRequested = false }
            return entries[name]?.isRequested ?? false
        }
    }
}

struct SourceState: Sendable {
    private(set) var isRunning = false
    var progress = SourceProgress()
    let since: Int64
    private(set) var lastAttempt: Int64?
    private(set) var lastSuccess: Int64?
    private(set) var lastChange: Int64?
    private(set) var changes = SourceChanges()
    private(set) var withheld = BlockedItems()
    private(set) var items: Int?
    private(set) var skipped = 0
    private(set) var omittedValues = 0
    private(set) var invalid: [String] = []
    private(set) var pages = 0
    private(set) var lastError: String?
    private(set) var failures = 0
    private(set) var nextAttempt: Int64?
    private(set) var attempts: [String: Int] = [:]
    private(set) var added = 0
    private(set) var changed = 0
    private(set) var removed = 0

    static let otherCause = "other"

    /// Returns the milliseconds since the store was last known to be in step; since the start if it never was.
    func lag(at now: Int64) -> Int64 {
        max(0, now - (lastSuccess ?? since))
    }

    mutating func begin(at now: Int64) {
        isRunning = true
        lastAttempt = now
        nextAttempt = nil
        progress = SourceProgress()
    }

    mutating func succeed(_ outcome: SourceOutcome, at now: Int64, next: Int64) {
        end(next)
        lastSuccess = now
        lastError = nil
        failures = 0
        (items, skipped, pages) = (outcome.items, outcome.skipped, outcome.pages)
        (omittedValues, invalid) = (outcome.omittedValues, outcome.invalid)
        if let compared = outcome.changes { withheld = compared.withheld }
        guard let changes = outcome.changes, !changes.isEmpty else {
            attempts["unchanged", default: 0] += 1
            return
        }
        attempts["changed", default: 0] += 1
        (self.changes, lastChange) = (changes, now)
        added += changes.added
        changed += changes.changed
        removed += changes.removed
    }

    mutating func fail(_ error: String, cause: String, next: Int64) {
        end(next)
        lastError = error
        failures += 1
        attempts[cause, default: 0] += 1
    }

    mutating func postpone(to next: Int64) {
        end(next)
        attempts[SourceError.Cause.busy.rawValue, default: 0] += 1
    }

    /// Takes over the result of another run, in this process or another one, unless it is older than the state here.
    mutating func recall(_ record: SourceRecord) {
        guard record.lastSuccess > lastSuccess ?? .min else { return }
        lastSuccess = record.lastSuccess
        (items, skipped, pages) = (record.items, record.skipped, record.pages)
        (omittedValues, invalid) = (record.omittedValues ?? 0, record.invalid ?? [])
    }

    private mutating func end(_ next: Int64) {
        isRunning = false
        nextAttempt = next
    }
}
