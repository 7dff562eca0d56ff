package import IntertwineFeed

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
        campaignText = event.showing?.campaign.map { ByteString($0) }
        feed = (event.showing?.feed).map { ByteString($0) }
        section = event.showing?.section.map { ByteString($0) }
        position = event.showing?.position ?? 0
        layout = event.showing?.layout
        form = (event.creative?.form).map { ByteString($0) }
        advertiser = event.creative?.advertiser.map { ByteString($0) }
    }

    var day: Int64 { LedgerTime.day(of: span * Self.quarter) }

    var deliverySpan: Int64 { LedgerTime.span(of: span * Self.quarter) }

    var campaign: String? { campaignText?.text }

    var event: LedgerEvent {
        var event = LedgerEvent(at: span * Self.quarter, kind: kind, cell: cell.text, verdict: verdict)
        if let feed, let layout {
            event.showing = ImpressionContext(
                campaign: campaign, feed: feed.text, section: section?.text, position: position, layout: layout)
        }
        event.creative = form.map { CreativeInfo(form: $0.text, advertiser: advertiser?.text) }
        return event
    }

    package func hash(into hasher: inout Hasher) {
        cell.hash(into: &hasher)
        campaignText?.hash(into: &hasher)
        hasher.combine(position)
    }
}

package struct EventTail: Sendable {
    private static let limit = 4_096

    package private(set) var after: Int64 = 0
    package private(set) var last: Int64 = 0
    private var counts: [EventGroupKey: Int64] = [:]

    package init() {}

    package var counted: [(event: LedgerEvent, count: Int64)] { counts.map { ($0.key.event, $0.value) } }

    package mutating func add(_ group: [EventGroupKey: Int64], _ markers: ClosedRange<Int64>) {
        if last &+ 1 != markers.lowerBound || after == last { (after, counts) = (markers.lowerBound - 1, [:]) }
        last = markers.upperBound
        guard counts.count + group.count <= Self.limit else {
            (after, counts) = (last, [:])
            return
        }
        for (likeness, count) in group where likeness.verdict == .counted { counts[likeness, default: 0] += count }
    }

    package mutating func drain() -> EventTail? {
        guard after < last else { return nil }
        defer { (after, counts) = (last, [:]) }
        return self
    }
}
