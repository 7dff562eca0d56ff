package import IntertwineFeed

/// A repeated impression never has a row.
/// Why: continuous invalid events of a client must not fill the disk.
package struct PendingRollup {
    private static let limit = 600

    private var minute: Int64 = 0
    private var rows = 0

    package init() {}

    static func mayDefer(_ event: LedgerEvent, as verdict: Verdict) -> Bool {
        guard verdict == .duplicate else { return false }
        return event.kind == .impression || event.kind.isPlayback && event.impressionContext != nil
    }

    package mutating func accepts(_ event: LedgerEvent, as verdict: Verdict) -> Bool {
        if verdict == .counted || verdict == .surplus { return true }
        switch event.kind {
        case .impression where verdict == .duplicate: return false
        case .impression, .click: break
        case let kind where kind.isPlayback && event.impressionContext != nil:
            guard verdict != .duplicate else { return false }
        // Events of these kinds run commands on the server, and store more than a row, even if they do not count.
        default: return true
        }
        if event.at / 60_000 != minute { (minute, rows) = (event.at / 60_000, 0) }
        rows += 1
        return rows <= Self.limit
    }
}
