internal import Logging
internal import Synchronization

/// Logs what requests fail for: the first failure of a kind at once, and those that follow it as a number, once a minute. A disk that is
/// full, or a database that is gone, fails every request, and a line for each would fill the disk that the log is on.
final class FailureLog: Sendable {
    private struct Kind {
        /// Milliseconds since 1970-01-01 UTC.
        var told: Int64
        /// Failures since then.
        var count = 0
    }

    private static let pause: Int64 = 60_000
    /// Beyond so many, all are forgotten and told anew.
    private static let kindLimit = 64

    private let logger: Logger
    private let kinds = Mutex<[String: Kind]>([:])

    init(_ logger: Logger) {
        self.logger = logger
    }

    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    func tell(_ error: any Error, on pattern: String, now: Int64) {
        let text = "\(error)"
        let repeated: Int? = kinds.withLock { kinds in
            if let kind = kinds[text], abs(now.subtractingReportingOverflow(kind.told).partialValue) < Self.pause {
                kinds[text]?.count += 1
                return nil
            }
            let count = kinds[text]?.count ?? 0
            if kinds.count >= Self.kindLimit { kinds = [:] }
            kinds[text] = Kind(told: now)
            return count
        }
        guard let repeated else { return }
        var metadata: Logger.Metadata = ["route": "\(pattern)", "error": "\(text)"]
        if repeated > 0 { metadata["since-the-last-line"] = "\(repeated)" }
        logger.error("request failed", metadata: metadata)
    }
}
