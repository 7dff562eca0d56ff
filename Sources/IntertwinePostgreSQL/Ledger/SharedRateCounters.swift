internal import IntertwineFeed
internal import IntertwineStorageCore

/// A group of units writes its counters to one row of a log, which the others read before they decide.
/// A replica's groups are committed in sequence and numbered, so the last number read from it shows which entries are new.
final class SharedRateCounters {
    /// The location where short windows are read and written.
    struct Mode: Equatable {
        var readsTable: Bool
        var writesTable: Bool
    }

    private var recent: RecentRateCounters
    private var known: [Int64: Int64] = [:]
    private var spilled: (until: Int64, own: Int64?) = (.min, nil)

    init(slots: Int) {
        recent = RecentRateCounters(mostSlots: slots)
    }

    var memory: (count: Int, bytes: Int) { (recent.count, recent.bytes) }

    static func isShort(_ window: Int64) -> Bool { window <= RecentRateCounters.longestWindow }

    func mode(at moment: Int64) -> Mode {
        Mode(readsTable: recent.isFull || spilled.until > LedgerTime.earliestEnd(at: moment), writesTable: recent.isFull)
    }

    // MARK: Reading the log

    private static let newRows = """
        SELECT writer.process, writer.last, entry.until, entry.spilled, entry.entries
        FROM ledger_writer AS writer LEFT JOIN unnest($1, $2) AS known (process, last) ON known.process = writer.process
        -- The order makes the planner look up each row.
        LEFT JOIN LATERAL (
            SELECT id, until, spilled, entries FROM recent_allowance
            WHERE recent_allowance.writer = writer.process AND number > coalesce(known.last, 0) AND number <= writer.last ORDER BY number
        ) AS entry ON true
        WHERE writer.last > coalesce(known.last, -1)
        ORDER BY entry.id
        """

    /// The caller must hold the locks.
    func question(besides process: Int64?) -> SQLCommand {
        var known = known
        if let process { known[process] = .max }
        return SQLCommand(Self.newRows, [.integers(Array(known.keys)), .integers(Array(known.values))])
    }

    func apply(_ rows: PostgresRows) {
        for row in 0..<rows.count {
            known[rows.integer(row, 0)] = rows.integer(row, 1)
            guard !rows.isNull(row, 2) else { continue }
            if rows.flag(row, 3) { spilled.until = max(spilled.until, rows.integer(row, 2)) }
            RateCounterEntries.unpack(rows.view(row, 4)) { recent.store($0, $1) }
        }
    }

    // MARK: One transaction

    subscript(_ key: RateCounterKey) -> RecentRateCounters.RateCounter? { recent.allowance(key) }

    func set(_ key: RateCounterKey, until: Int64, used: Int64) {
        recent.set(key, RecentRateCounters.RateCounter(until: until, used: UInt32(clamping: used)))
    }

    func spill(until end: Int64) { spilled.own = max(spilled.own ?? .min, end) }

    /// Forgets what is over, a little at a time.
    func tidy(at moment: Int64) {
        recent.tidy {
            $0 <= LedgerTime.earliestEnd(at: moment) || $0 > LedgerTime.latestValidEnd(at: moment, window: RecentRateCounters.longestWindow)
        }
    }

    func commands(process: Int64, number: Int64) -> [SQLCommand] {
        let changed = recent.changed
        guard !changed.isEmpty || spilled.own != nil else { return [] }
        return [
            SQLCommand(
                "INSERT INTO recent_allowance (writer, number, until, spilled, entries) VALUES ($1, $2, $3, $4, $5)",
                [
                    .integer(process), .integer(number), .integer(changed.reduce(spilled.own ?? .min) { max($0, $1.allowance.until) }),
                    .flag(spilled.own != nil), .bytes(RateCounterEntries.pack(changed)),
                ])
        ]
    }

    func hasCommitted() {
        recent.hasCommitted()
        if let own = spilled.own { spilled = (max(spilled.until, own), nil) }
    }

    func discard() {
        recent.discard()
        spilled.own = nil
    }
}
