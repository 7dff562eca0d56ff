extension Campaigns {
    /// An ad that belongs to a campaign counts for a campaign or not at all. Reports by ad and reports by campaign therefore agree.
    package func verdict(on creative: CreativeID, _ showing: ImpressionContext?) -> Verdict? {
        let campaignIndex = latest
        if campaignIndex.isExclusive(creative) { return .gone }
        guard let id = showing?.campaign else { return campaignIndex.hasCreative(creative) ? .late : nil }
        return campaignIndex.index(of: id) == nil ? .gone : nil
    }

    func names(with creative: CreativeID) -> [String] {
        latest.campaigns.filter { $0.creatives.contains { item(of: $0) == creative } }.map(\.id)
    }

    package func owner(of creative: CreativeID, at now: Int64) -> (isOwned: Bool, campaign: String?) {
        let campaignIndex = latest
        guard campaignIndex.hasCreative(creative) else { return (false, nil) }
        let owners = campaignIndex.campaigns.filter { $0.creatives.contains { item(of: $0) == creative } }
        let owner = owners.first { $0.isRunning(at: now) } ?? owners.first
        return (true, owner?.id ?? campaignIndex.former[creative]?.first)
    }
}

extension Campaign {
    func terms(of event: LedgerEvent) -> LedgerEvent.Terms {
        let goal = goal.flatMap { $0.kind == event.kind ? $0 : nil }
        return LedgerEvent.Terms(
            campaign: id, isLive: isRunning(at: event.at), total: (goal?.total).map(Int64.init), daily: (goal?.daily).map(Int64.init),
            day: goal?.daily == nil ? 0..<0 : zone.clocks.day(of: event.at),
            caps: event.kind == .impression && event.viewer != nil ? caps : [])
    }
}
