internal import IntertwinePrimitives

/// The delivered units of campaigns and the exposures of viewers that decide whether the events of a group are owed.
/// The counts are those of the table `delivery` plus the group's own events, so that `counted` never exceeds a goal. A writer excludes
/// others between the questions and its commit: SQLite by the lock of the file, PostgreSQL by ``locks``, and for the exposures of a viewer
/// by the lock of the viewer's rate.
package struct DeliveryBook {
    package struct Count: Hashable, Sendable {
        package var campaign: ByteString
        package var kind: LedgerEvent.Kind
        package var spans: Range<Int64>
    }

    package struct Exposed: Hashable, Sendable {
        package var viewer: ByteString
        package var campaign: ByteString
    }

    private static let lockCount: UInt64 = 256
    package static let total: Range<Int64> = -1..<0

    private var counts: [Count: Int64] = [:]
    package private(set) var asked: [Count] = []
    private var exposures: [Exposed: [(at: Int64, count: Int64)]] = [:]
    package private(set) var askedExposures: [(viewer: Exposed, since: Int64)] = []

    package init() {}

    package mutating func ask(for event: LedgerEvent) {
        guard event.verdict == .counted, let terms = event.terms, terms.isLive else { return }
        for (count, _) in Self.limits(of: event, terms) where counts[count] == nil {
            counts[count] = 0
            asked.append(count)
        }
        guard let exposed = Self.exposed(event, terms), let window = terms.caps.map(\.window).max() else { return }
        let since = event.at - Int64(window) * 1_000
        if exposures[exposed] == nil {
            exposures[exposed] = []
            askedExposures.append((exposed, since))
        } else if let index = askedExposures.firstIndex(where: { $0.viewer == exposed }) {
            askedExposures[index].since = min(askedExposures[index].since, since)
        }
    }

    private static func limits(of event: LedgerEvent, _ terms: LedgerEvent.Terms) -> [(Count, Int64)] {
        var limits: [(Count, Int64)] = []
        let campaign = ByteString(terms.campaign)
        if let total = terms.total { limits.append((Count(campaign: campaign, kind: event.kind, spans: Self.total), total)) }
        if let daily = terms.daily {
            let spans = LedgerTime.span(of: terms.day.lowerBound)..<LedgerTime.span(of: terms.day.upperBound)
            limits.append((Count(campaign: campaign, kind: event.kind, spans: spans), daily))
        }
        return limits
    }

    private static func exposed(_ event: LedgerEvent, _ terms: LedgerEvent.Terms) -> Exposed? {
        guard event.kind == .impression, !terms.caps.isEmpty, let viewer = event.viewer else { return nil }
        return Exposed(viewer: ByteString(viewer), campaign: ByteString(terms.campaign))
    }

    package var locks: [Int64] {
        Set(asked.map { Int64(FNV1a.hash($0.campaign.text.utf8) % Self.lockCount) }).sorted()
    }

    package mutating func setCount(_ question: Int, _ count: Int64) { counts[asked[question]] = count }

    package mutating func addExposure(_ question: Int, at moment: Int64, _ count: Int64) {
        exposures[askedExposures[question].viewer, default: []].append((moment, count))
    }

    package mutating func judge(_ event: LedgerEvent) -> Verdict {
        guard let terms = event.terms else { return .counted }
        let exposed = Self.exposed(event, terms)
        defer { if let exposed { exposures[exposed, default: []].append((event.at, 1)) } }
        guard terms.isLive else { return .late }
        let limits = Self.limits(of: event, terms)
        if limits.contains(where: { counts[$0, default: 0] >= $1 }) { return .surplus }
        if let exposed, terms.caps.contains(where: { isReached($0, by: exposed, at: event.at) }) { return .surplus }
        for (count, _) in limits { counts[count, default: 0] += 1 }
        return .counted
    }

    private func isReached(_ cap: FrequencyCap, by viewer: Exposed, at moment: Int64) -> Bool {
        let (start, end) = (moment - Int64(cap.window) * 1_000, moment + CellTokens.skew)
        let seen = exposures[viewer, default: []].reduce(0) { $1.at > start && $1.at <= end ? $0 + $1.count : $0 }
        return seen >= Int64(cap.count)
    }
}
