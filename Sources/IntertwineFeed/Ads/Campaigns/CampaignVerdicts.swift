extension Campaigns {
    /// An ad that belongs to a campaign counts for a campaign or not at all. Reports by ad and reports by campaign therefore agree.
    package func verdict(on kind: LedgerEvent.Kind, of creative: CreativeID, _ showing: ImpressionContext?, at now: Int64) -> Verdict? {
        let campaignIndex = latest
        if campaignIndex.isExclusive(creative) { return .gone }
        guard let id = showing?.campaign else { return campaignIndex.hasCreative(creative) ? .late : nil }
        guard let index = campaignIndex.index(of: id) else { return .gone }
        let campaign = campaignIndex.campaigns[index]
        guard campaign.isRunning(at: now) else { return .late }
        if kind == .impression, let ends = showing?.ends, now >= ends { return .late }
        return campaign.goal?.kind == kind && delivery.isReached(id, at: now) ? .late : nil
    }

    package func owner(of creative: CreativeID, at now: Int64) -> (campaign: String?, isRunning: Bool)? {
        let campaignIndex = latest
        guard campaignIndex.hasCreative(creative) else { return nil }
        let owners = campaignIndex.campaigns.filter { $0.creatives.contains { item(of: $0) == creative } }
        if let running = owners.first(where: { $0.isRunning(at: now) }) { return (running.id, true) }
        return (owners.first?.id ?? campaignIndex.former[creative]?.first, false)
    }
}
