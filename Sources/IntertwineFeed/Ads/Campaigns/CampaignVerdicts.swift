extension Campaigns {
    /// Returns the verdict that campaigns impose on an event with an authentic token; nil if the event may count. It uses the campaigns of
    /// the last load.
    ///
    /// An ad that belongs to a campaign counts for a campaign or not at all. Reports by ad and reports by campaign therefore agree.
    ///
    /// | verdict | condition |
    /// | --- | --- |
    /// | `gone` | The token's campaign is stopped or removed, or the ad belongs only to such campaigns. |
    /// | `late` | The token's campaign does not run now. |
    /// | `late` | The campaign's goal for events of this kind is reached. |
    /// | `late` | The reservation of the impression has expired. |
    /// | `late` | The token names no campaign, and the ad belongs to one. |
    ///
    /// - Parameters:
    ///   - kind: The kind of the event.
    ///   - creative: The ad, or another item, whose cell the token names.
    ///   - showing: The impression context in the token.
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

    /// Returns the campaign that an event without the token of a page is recorded for; nil if the ad belongs to no campaign. It uses the
    /// campaigns of the last load.
    ///
    /// If several campaigns name the ad, the result is the first one that runs, by priority and id.
    ///
    /// - Returns: The id, and a Boolean value indicating whether the campaign runs. An event for a campaign that does not run is `late`.
    package func owner(of creative: CreativeID, at now: Int64) -> (campaign: String?, isRunning: Bool)? {
        let campaignIndex = latest
        guard campaignIndex.hasCreative(creative) else { return nil }
        let owners = campaignIndex.campaigns.filter { $0.creatives.contains { item(of: $0) == creative } }
        if let running = owners.first(where: { $0.isRunning(at: now) }) { return (running.id, true) }
        return (owners.first?.id ?? campaignIndex.former[creative]?.first, false)
    }
}
