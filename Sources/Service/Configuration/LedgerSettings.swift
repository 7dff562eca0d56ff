/// `ledger.*`: the record of what happened.
public struct LedgerSettings: Sendable {
    /// Units of work that may wait for the disk; beyond it the answer is 503.
    public var queue: Int
    /// Units of work that share one transaction at most.
    public var group: Int
    /// How long a request waits for the disk before it is answered 503.
    public var patience: Duration
    /// How long single events are kept; their daily totals are kept for good.
    public var retention: Duration

    init(_ reader: inout SettingsReader) throws {
        queue = try reader.read("ledger.queue", default: 4_096, in: 1...1_000_000)
        group = try reader.read("ledger.group", default: 512, in: 1...10_000)
        patience = try reader.read(
            "ledger.patience", default: .seconds(5), allowed: "\(Duration.allowed), from 100ms to 60s",
            where: { (.milliseconds(100)...(.seconds(60))).contains($0) })
        retention = try reader.read(
            "ledger.retention", default: .seconds(400 * 86_400), allowed: "\(Duration.allowed), at least 1d",
            where: { $0 >= .seconds(86_400) })
    }
}
