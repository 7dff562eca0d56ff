extension Campaigns {
    package func verdict(on item: FeedItem, _ impressionContext: ImpressionContext?) -> Verdict? {
        guard let id = impressionContext?.campaign else {
            // The page is of the time when it was a house ad.
            return factories.isCampaignAd(item) ? latest.number(of: CreativeID(item)) != nil ? .late : .gone : nil
        }
        return latest.index(of: id) == nil && !sources.contains(id) ? .gone : nil
    }

    /// True for an ad for campaigns alone that none names, unless another source of ads may show it and its campaign is not taken down.
    func isUnreachable(_ item: FeedItem, in store: any FeedStore) async throws -> Bool {
        guard factories.isCampaignAd(item), try await campaignIndex(of: store)?.number(of: CreativeID(item)) == nil else { return false }
        return sources.isEmpty || isWithheld(CreativeID(item))
    }

    func names(with creative: CreativeID) -> [String] {
        latest.campaigns.filter { $0.creatives.contains { item(of: $0) == creative } }.map(\.id)
    }

    package func owner(of creative: CreativeID, at now: Int64) -> String? {
        let owners = latest.campaigns.filter { $0.creatives.contains { item(of: $0) == creative } }
        return (owners.first { $0.isRunning(at: now) } ?? owners.first)?.id
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
