internal import IntertwineEventLoop

/// Failures that are answered again without asking the origin again. Bounded in number and in time. Pure.
struct NegativeCache: Sendable {
    private struct Entry {
        let failure: ImageFailure
        let until: LoopInstant
        /// How often in a row it failed in passing.
        let strikes: Int
    }

    /// Sources remembered.
    let capacity: Int
    private var entries: [String: Entry] = [:]

    init(capacity: Int = 10_000) {
        self.capacity = capacity
    }

    var count: Int { entries.count }

    /// The failure, with the time after which it pays to ask again.
    func failure(for source: String, now: LoopInstant) -> ImageFailure? {
        guard let entry = entries[source], now < entry.until else { return nil }
        var failure = entry.failure
        failure.retryAfter = max(1, Int(entry.until.since(now).components.seconds) + 1)
        return failure
    }

    mutating func record(_ failure: ImageFailure, for source: String, now: LoopInstant) {
        let strikes = (entries[source]?.strikes ?? 0) + 1
        guard let time = failure.remembered(strikes: strikes) else { return }
        if entries.count >= capacity, entries[source] == nil { makeRoom(now) }
        entries[source] = Entry(failure: failure, until: now.advanced(by: time), strikes: strikes)
    }

    mutating func forget(_ source: String) {
        entries[source] = nil
    }

    mutating func forget(where isGone: (String) -> Bool) {
        entries = entries.filter { !isGone($0.key) }
    }

    private mutating func makeRoom(_ now: LoopInstant) {
        entries = entries.filter { now < $0.value.until }
        // A tenth at a time: to look through all of them for each new one would keep the loop busy.
        guard entries.count >= capacity else { return }
        for source in Array(entries.keys.prefix(max(1, capacity / 10))) { entries[source] = nil }
    }
}
