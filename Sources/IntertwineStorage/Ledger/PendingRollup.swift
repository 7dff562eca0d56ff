package import IntertwineFeed

/// Which events that do not count get a row of their own.
///
/// All of them are in the rollups, by day, cell, kind and verdict, and so in every report. What somebody sends without end must not fill the
/// disk: so many a minute have rows, and those after them are counts alone, written with their group. A repeated impression never has one: it
/// is the one that stands there already.
package struct PendingRollup {
    /// Rows in a minute, of all clients together.
    private static let limit = 600

    private var minute: Int64 = 0
    private var rows = 0

    package init() {}

    /// Whether the count of an event may be written after the response, within a second: one that repeats an impression or a playback event.
    /// All other counts are in the transaction of their group.
    package static func mayDefer(_ event: LedgerEvent, as verdict: Verdict) -> Bool {
        guard verdict == .duplicate else { return false }
        return event.kind == .impression || event.kind.isPlayback && event.showing != nil
    }

    package mutating func accepts(_ event: LedgerEvent, as verdict: Verdict) -> Bool {
        switch event.kind {
        case .impression where verdict == .duplicate: return false
        case .impression, .click: break
        case let kind where kind.isPlayback && event.showing != nil:
            guard verdict != .duplicate else { return false }
        // These are performed on the server, whatever they count, and leave more behind than a row.
        default: return true
        }
        if event.at / 60_000 != minute { (minute, rows) = (event.at / 60_000, 0) }
        rows += 1
        return rows <= Self.limit
    }
}
