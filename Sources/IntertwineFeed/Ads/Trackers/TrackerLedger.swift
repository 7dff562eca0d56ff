package enum TrackerOutcome: Sendable, Hashable {
    case succeeded
    case failed(String, again: Int64)
    case abandoned(String)
    case untried(again: Int64)
}

package struct TrackerSummary: Sendable, Hashable, Encodable {
    package var waiting = 0
    package var givenUp = 0
    /// The time of the oldest event with a waiting call, in milliseconds since 1970-01-01 UTC.
    package var oldest: Int64?

    package init() {}
}
