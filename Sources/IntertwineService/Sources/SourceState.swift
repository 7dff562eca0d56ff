internal import IntertwineStorage
internal import IntertwineSync

/// How one source is doing. Times are milliseconds since 1970-01-01 UTC.
struct SourceState: Sendable {
    var isRunning = false
    var progress = SourceProgress()
    /// When this service began to watch the source.
    let since: Int64
    var lastAttempt: Int64?
    var lastSuccess: Int64?
    /// When the store was last changed, and how.
    var lastChange: Int64?
    var changes = SourceChanges()
    /// Left out when the list was last compared with the store.
    var withheld = Withheld()
    /// Of the last snapshot that was taken; nil before the first.
    var items: Int?
    var skipped = 0
    var pages = 0
    var lastError: String?
    /// In a row.
    var failures = 0
    var nextAttempt: Int64?
    /// Since the start, by how they ended.
    var attempts: [String: Int] = [:]
    var added = 0
    var changed = 0
    var removed = 0

    /// What attempts end with that no known failure ended.
    static let otherCause = "other"

    init(since: Int64) {
        self.since = since
    }

    /// How long ago the store was last known to be in step, in milliseconds; counted from the start where it never was.
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

    /// Somebody else has the source in hand: neither a success nor a failure.
    mutating func postpone(to next: Int64) {
        end(next)
        attempts[SourceFailure.Cause.busy.rawValue, default: 0] += 1
    }

    /// What another run has found out, in this process or in another one, unless more is known here.
    mutating func recall(_ record: SourceRecord) {
        guard record.lastSuccess > lastSuccess ?? .min else { return }
        lastSuccess = record.lastSuccess
        (items, skipped, pages) = (record.items, record.skipped, record.pages)
    }

    private mutating func end(_ next: Int64) {
        isRunning = false
        nextAttempt = next
    }
}
