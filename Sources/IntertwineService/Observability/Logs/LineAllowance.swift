internal import Synchronization

/// So many lines a second, and how many there would have been besides.
///
/// Once a second's lines are used up, asking costs two loads and the clock. Two threads that begin a second at the same moment may let a
/// few more through: a bound on the cost, not an exact count.
final class LineAllowance: Sendable {
    private let second = Atomic<Int64>(0)
    private let used = Atomic(0)
    private let skipped = StripedCells(width: 1)
    private let told = Atomic(0)

    /// Lines that were left out, since the start.
    var skippedLines: Int { skipped.sum(of: 0) }

    /// Whether the next line would be written.
    func hasRoom(limit: Int, now: () -> Int64) -> Bool {
        used.load(ordering: .relaxed) < limit || second.load(ordering: .relaxed) != now() / 1_000
    }

    /// Takes a line; false where none is left.
    ///
    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    func take(limit: Int, now: Int64) -> Bool {
        let current = now / 1_000
        if second.load(ordering: .relaxed) != current {
            second.store(current, ordering: .relaxed)
            used.store(0, ordering: .relaxed)
        }
        if used.load(ordering: .relaxed) < limit, used.wrappingAdd(1, ordering: .relaxed).oldValue < limit { return true }
        skipped.add(1, to: 0)
        return false
    }

    /// How many lines were left out since this was last asked.
    func takeSkipped() -> Int {
        // Most lines find none: a load is all they pay.
        let total = skipped.sum(of: 0)
        return total == told.load(ordering: .relaxed) ? 0 : total - told.exchange(total, ordering: .relaxed)
    }
}
