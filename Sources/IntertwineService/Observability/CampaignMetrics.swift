internal import IntertwineFeed
internal import Synchronization

/// The metrics of campaigns, for at most ``limit`` of them, so that the number of series is bounded.
final class CampaignMetrics: Sendable {
    private struct Series: Hashable {
        var campaign: String
        var kind: LedgerEvent.Kind
        var verdict: Verdict
    }

    private static let limit = 200
    /// No id of a campaign has parentheses.
    private static let others = "(others)"
    private static let kinds: [LedgerEvent.Kind] = [.impression, .click, .complete]

    private let counted = Mutex<(campaigns: Set<String>, events: [Series: Int])>(([], [:]))

    func count(_ events: [LedgerEvent], _ verdicts: [Verdict]) {
        guard events.contains(where: { $0.impressionContext?.campaign != nil }) else { return }
        counted.withLock { counted in
            for (event, verdict) in zip(events, verdicts) where verdict.isAccepted && Self.kinds.contains(event.kind) {
                guard let campaign = event.impressionContext?.campaign else { continue }
                if counted.campaigns.count < Self.limit { counted.campaigns.insert(campaign) }
                let name = counted.campaigns.contains(campaign) ? campaign : Self.others
                counted.events[Series(campaign: name, kind: event.kind, verdict: verdict), default: 0] += 1
            }
        }
    }

    func samples(_ progress: [CampaignProgress], of campaigns: Campaigns, now: Int64) -> [MetricSample] {
        let open = progress.filter { $0.campaign.goal != nil && ($0.campaign.ends ?? .max) > now && ($0.campaign.starts ?? .min) <= now }
        let shown = open.sorted { $0.campaign.id < $1.campaign.id }.prefix(Self.limit)
        func samples(
            _ name: String, _ kind: MetricSample.Kind, _ help: String, _ value: (CampaignProgress) -> Double?
        ) -> [MetricSample] {
            shown.compactMap { one in value(one).map { MetricSample(name, kind, help, labels: [("campaign", one.campaign.id)], $0) } }
        }
        let current = Set(progress.map(\.campaign.id))
        let counts = counted.withLock { counted in
            // Campaigns that are gone make room for new ones.
            if counted.campaigns.count == Self.limit {
                counted.campaigns.formIntersection(current)
                counted.events = counted.events.filter { counted.campaigns.contains($0.key.campaign) || $0.key.campaign == Self.others }
            }
            return counted.events
        }
        let events = counts.map { series, count in
            MetricSample(
                "intertwine_campaign_events_total", .counter, "Events of campaigns that used their token, by verdict.",
                labels: [("campaign", series.campaign), ("kind", series.kind.rawValue), ("verdict", series.verdict.rawValue)], Double(count)
            )
        }
        return events
            + samples("intertwine_campaign_pace_ratio", .gauge, "Delivered events per due event of a campaign.") { $0.figures.pace }
            + samples("intertwine_campaign_running", .gauge, "1 if a campaign may get ad slots now.") {
                $0.obstacle == nil && campaigns.blockage(of: $0.campaign.id, now: now) == nil ? 1 : 0
            }
            + samples("intertwine_campaign_offers_total", .counter, "Ad slots that a campaign got, in all processes.") {
                $0.delivered.map { Double($0.offers) }
            }
    }
}
