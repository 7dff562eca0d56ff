package struct CampaignProgress: Sendable {
    package var campaign: Campaign
    package var delivered: DeliveryCount?
    var estimate: DeliveryEstimate?
    package var due: Int64?
    package var dueToday: Int64?
    package var obstacle: IneligibilityReason?

    package var expectation: (expected: Double, viewRate: Double, lag: Double)? {
        estimate.map { ($0.expected, $0.viewRate, $0.lag) }
    }

    package var figures: CampaignStatistics {
        var figures = CampaignStatistics(
            unit: campaign.goal?.unit, total: campaign.goal?.total, daily: campaign.goal?.daily, delivered: delivered?.total,
            deliveredToday: delivered?.today, due: due, dueToday: dueToday)
        figures.price = campaign.price
        return figures
    }
}

extension Campaigns {
    package func figures(in store: any FeedStore, _ ledger: any CampaignLedger, now: Int64) async throws -> [String: CampaignStatistics] {
        let campaignIndex = try await campaignIndex(of: store)
        let takenDown = try await takenDown(in: store).map { $0.campaign ?? Campaign(id: $0.id, advertiser: "", creatives: []) }
        let campaigns = (campaignIndex?.campaigns ?? []) + takenDown
        guard !campaigns.isEmpty else { return [:] }
        // The read runs on a thread that may block, because it accesses the ledger.
        let delivered = try await store.read(for: .background) { _ in
            try ledger.refresh(adding: [:], campaigns.map { DeliveryQuery($0, at: now) }, now: now).counts
        }
        let figures = zip(campaigns, delivered).map { campaign, delivered in
            let pace = CampaignPace(campaign)
            let progress = CampaignProgress(
                campaign: campaign, delivered: delivered, due: pace.due(at: now),
                dueToday: pace.dueToday(at: now, in: campaign.zone.clocks.day(of: now)))
            var figures = progress.figures
            if (campaign.ends ?? .max) > now { figures.blockage = campaignIndex.flatMap { blockage(of: campaign.id, in: $0, now: now) } }
            return (campaign.id, figures)
        }
        return Dictionary(figures) { first, _ in first }
    }
}

extension DeliveryQuery {
    init(_ campaign: Campaign, at now: Int64) {
        self.init(
            campaign: campaign.id, kind: campaign.goal?.kind ?? .impression, day: campaign.zone.clocks.day(of: now).lowerBound)
    }
}

extension Campaign.Goal {
    func obstacle(_ delivered: Int64, _ today: Int64) -> IneligibilityReason? {
        if let total, delivered >= Int64(total) { return .goalReached }
        if let daily, today >= Int64(daily) { return .dailyGoalReached }
        return nil
    }
}
