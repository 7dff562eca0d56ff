/// An event as it stands in the ledger.
public struct RecordedEvent: Sendable, Hashable {
    /// Grows with every event; an export goes on behind the last one it has.
    public var marker: Int64
    /// With its final verdict; deduplication and rates are not kept.
    public var event: LedgerEvent

    public init(marker: Int64, event: LedgerEvent) {
        self.marker = marker
        self.event = event
    }
}
