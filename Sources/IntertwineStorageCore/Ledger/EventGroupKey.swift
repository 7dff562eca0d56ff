internal import IntertwineFeed

package struct EventGroupKey: Hashable {
    /// The time unit in milliseconds: quarters of an hour since 1970-01-01 UTC, which add up to hours and days.
    private static let quarter: Int64 = 900_000

    let kind: LedgerEvent.Kind
    let verdict: Verdict
    let cell: ByteString
    private let span: Int64
    private let campaignText: ByteString?
    private let feed: ByteString?
    private let section: ByteString?
    private let position: Int
    private let layout: CellLayout?
    private let form: ByteString?
    private let advertiser: ByteString?

    init(_ event: LedgerEvent, as verdict: Verdict) {
        kind = event.kind
        self.verdict = verdict
        cell = ByteString(event.cell)
        span = LedgerTime.spans(of: Self.quarter, in: event.at)
        campaignText = event.impressionContext?.campaign.map { ByteString($0) }
        feed = (event.impressionContext?.feed).map { ByteString($0) }
        section = event.impressionContext?.section.map { ByteString($0) }
        position = event.impressionContext?.position ?? 0
        layout = event.impressionContext?.layout
        form = (event.creative?.form).map { ByteString($0) }
        advertiser = event.creative?.advertiser.map { ByteString($0) }
    }

    var day: Int64 { LedgerTime.day(of: span * Self.quarter) }

    var deliverySpan: Int64 { LedgerTime.span(of: span * Self.quarter) }

    var campaign: String? { campaignText?.text }

    package func hash(into hasher: inout Hasher) {
        cell.hash(into: &hasher)
        campaignText?.hash(into: &hasher)
        hasher.combine(position)
    }
}
