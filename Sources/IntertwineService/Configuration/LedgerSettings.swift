internal import IntertwinePrimitives

/// `ledger.*`: the record of what happened.
public struct LedgerSettings: Sendable {
    /// Units of work that may wait for the disk; beyond it the answer is 503.
    public var queue = 4_096
    /// Units of work that share one transaction at most.
    public var group = 512
    /// How long a request waits for the disk before it is answered 503.
    public var patience: Duration = .seconds(5)
    /// How long single events are kept; their daily totals are kept for good.
    public var retention: Duration = .seconds(400 * 86_400)

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        reader.read("ledger.queue", &queue, in: 1...1_000_000)
        reader.read("ledger.group", &group, in: 1...10_000)
        reader.read("ledger.patience", &patience, in: .milliseconds(100) ... .seconds(60))
        reader.read(
            "ledger.retention", &retention, allowed: "\(Duration.allowed), at least 1d", where: { $0 >= .seconds(86_400) })
    }
}
