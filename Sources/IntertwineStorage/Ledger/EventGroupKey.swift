import IntertwineFeed

/// What all that is counted tells events apart by: those that have it in common are one number.
struct EventGroupKey: Hashable {
    /// Quarters of an hour since 1970-01-01 UTC, of which hours and days are made; those before it are negative.
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

    /// Days since 1970-01-01 UTC.
    var day: Int64 { LedgerTime.day(of: span * Self.quarter) }

    /// What its campaign's deliveries are counted by.
    var deliverySpan: Int64 { LedgerTime.span(of: span * Self.quarter) }

    var campaign: String? { campaignText?.text }

    /// An event that is like it, of nobody.
    var event: LedgerEvent {
        var event = LedgerEvent(at: span * Self.quarter, kind: kind, cell: cell.text, verdict: verdict)
        if let feed, let layout {
            event.showing = ImpressionContext(
                campaign: campaign, feed: feed.text, section: section?.text, position: position, layout: layout)
        }
        event.creative = form.map { CreativeInfo(form: $0.text, advertiser: advertiser?.text) }
        return event
    }

    /// What mostly differs; equality looks at the rest.
    func hash(into hasher: inout Hasher) {
        cell.hash(into: &hasher)
        campaignText?.hash(into: &hasher)
        hasher.combine(position)
    }
}

/// What this process has written behind an event, so that nobody has to read it again to add it up: each event is counted here as it is committed,
/// and a tally whose marker stands where this begins takes all of it at once.
///
/// What is not here, because another process wrote it, or the process before, is read from the ledger. Nothing is lost with it.
struct EventTail: Sendable {
    /// So many that differ are kept; with more of them, those so far are read when they are needed.
    private static let limit = 4_096

    /// The marker behind which it begins, and that of its last event.
    private(set) var after: Int64 = 0
    private(set) var last: Int64 = 0
    private var counts: [EventGroupKey: Int64] = [:]

    /// Those that count, and how many there are of each.
    var counted: [(event: LedgerEvent, count: Int64)] { counts.map { ($0.key.event, $0.value) } }

    /// Takes note of a group that is on disk.
    ///
    /// - Parameter markers: those of all events of the group, which follow one another.
    mutating func add(_ group: [EventGroupKey: Int64], _ markers: ClosedRange<Int64>) {
        if last &+ 1 != markers.lowerBound || after == last { (after, counts) = (markers.lowerBound - 1, [:]) }
        last = markers.upperBound
        guard counts.count + group.count <= Self.limit else {
            (after, counts) = (last, [:])
            return
        }
        for (likeness, count) in group where likeness.verdict == .counted { counts[likeness, default: 0] += count }
    }

    /// What there is, where there is anything. It begins anew behind that.
    mutating func drain() -> EventTail? {
        guard after < last else { return nil }
        defer { (after, counts) = (last, [:]) }
        return self
    }
}
