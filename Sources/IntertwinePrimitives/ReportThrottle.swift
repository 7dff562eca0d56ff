internal import Synchronization

/// Limits repeated reports: the first one of a kind is made at once, later ones once a minute with the number of repetitions.
/// Why: a full disk or an invalid item fails every request, and a line for each would fill the disk of the log.
package final class ReportThrottle: Sendable {
    private struct Kind {
        /// The time of the last report, in milliseconds since 1970-01-01 UTC.
        var lastReported: Int64
        var count = 0
    }

    private static let pause: Int64 = 60_000
    private static let kindLimit = 64

    private let kinds = Mutex<[String: Kind]>([:])

    package init() {}

    package func repetitions(of kind: String, now: Int64) -> Int? {
        kinds.withLock { kinds in
            if let known = kinds[kind], abs(now.subtractingReportingOverflow(known.lastReported).partialValue) < Self.pause {
                kinds[kind]?.count += 1
                return nil
            }
            let count = kinds[kind]?.count ?? 0
            if kinds.count >= Self.kindLimit { kinds = [:] }
            kinds[kind] = Kind(lastReported: now)
            return count
        }
    }
}
