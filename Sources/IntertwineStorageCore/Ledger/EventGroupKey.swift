package import IntertwineFeed

/// A key of all properties of an event that counters distinguish. Events with equal keys are counted together.
package struct EventGroupKey: Hashable {
    /// The time unit in milliseconds: quarters of an hour since 1970-01-01 UTC, which add up to hours and days. Earlier times are negative.
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

    /// The number of days since 1970-01-01 UTC.
    var day: Int64 { LedgerTime.day(of: span * Self.quarter) }

    /// The time span under which the deliveries of the campaign are counted.
    var deliverySpan: Int64 { LedgerTime.span(of: span * Self.quarter) }

    var campaign: String? { campaignText?.text }

    /// An event with the properties of the key, without a viewer.
    var event: LedgerEvent {
        var event = LedgerEvent(at: span * Self.quarter, kind: kind, cell: cell.text, verdict: verdict)
        if let feed, let layout {
            event.showing = ImpressionContext(
                campaign: campaign, feed: feed.text, section: section?.text, position: position, layout: layout)
        }
        event.creative = form.map { CreativeInfo(form: $0.text, advertiser: advertiser?.text) }
        return event
    }

    /// Hashes the properties that differ most often; equality compares all.
    package func hash(into hasher: inout Hasher) {
        cell.hash(into: &hasher)
        campaignText?.hash(into: &hasher)
        hasher.combine(position)
    }
}

/// Counts of events that this process has written after a marker.
///
/// Each event is counted here as it is committed. Totals whose marker equals ``after`` add all counts at once, without reading the events.
/// Events that are missing here, such as those of other processes or of a previous process, are read from the ledger.
/// The value is a cache, so its loss does not lose events.
package struct EventTail: Sendable {
    /// The limit of distinct keys. Above it the counts are discarded, and the events are read from the ledger when they are needed.
    private static let limit = 4_096

    /// The marker after which the counts begin, followed by the marker of the last counted event.
    package private(set) var after: Int64 = 0
    package private(set) var last: Int64 = 0
    private var counts: [EventGroupKey: Int64] = [:]

    package init() {}

    /// The distinct events that count, with their numbers.
    package var counted: [(event: LedgerEvent, count: Int64)] { counts.map { ($0.key.event, $0.value) } }

    /// Adds the counts of a committed group.
    ///
    /// - Parameter markers: the consecutive markers of all events of the group.
    package mutating func add(_ group: [EventGroupKey: Int64], _ markers: ClosedRange<Int64>) {
        if last &+ 1 != markers.lowerBound || after == last { (after, counts) = (markers.lowerBound - 1, [:]) }
        last = markers.upperBound
        guard counts.count + group.count <= Self.limit else {
            (after, counts) = (last, [:])
            return
        }
        for (likeness, count) in group where likeness.verdict == .counted { counts[likeness, default: 0] += count }
    }

    /// Returns the counts, or nil if there are none, and starts again after the last event.
    package mutating func drain() -> EventTail? {
        guard after < last else { return nil }
        defer { (after, counts) = (last, [:]) }
        return self
    }
}
