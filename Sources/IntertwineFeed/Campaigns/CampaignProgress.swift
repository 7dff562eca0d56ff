/// How far a campaign has come.
package struct CampaignProgress: Sendable {
    package var campaign: Campaign
    /// Of the goal's unit, impressions without one; nil where nobody knows.
    package var delivered: DeliveryCount?
    /// Given out and not seen yet.
    package var reserved: Int64
    /// What its goals have for now, evenly paced ones by the time that has passed; nil without.
    package var due: Int64?
    package var dueToday: Int64?
    /// Why it is not shown now; nil where that is up to the request.
    package var obstacle: IneligibilityReason?

    package var figures: CampaignStatistics {
        CampaignStatistics(
            unit: campaign.goal?.unit, total: campaign.goal?.total, daily: campaign.goal?.daily, delivered: delivered?.total,
            deliveredToday: delivered?.today, due: due, dueToday: dueToday)
    }
}

/// What a campaign has delivered, beside what its goals have for now.
package struct CampaignStatistics: Sendable, Hashable {
    /// Nil without a goal; what is delivered is impressions then.
    package var unit: Campaign.Goal.Unit?
    package var total: Int?
    package var daily: Int?
    package var delivered: Int64?
    package var deliveredToday: Int64?
    package var due: Int64?
    package var dueToday: Int64?
    /// Why it can never be shown as things are; nil where it can.
    package var blockage: String?

    /// What is delivered for each place that is due: of the day where the day alone has a goal.
    package var pace: Double? {
        guard let delivered, let deliveredToday else { return nil }
        let (done, due) = due.map { (delivered, $0) } ?? (deliveredToday, dueToday ?? 0)
        return due > 0 ? Double(done) / Double(due) : nil
    }
}

extension Campaigns {
    /// How far each campaign has come, by its id, as the ledger has it.
    package func figures(in store: any FeedStore, _ ledger: any CampaignLedger, now: Int64) async throws -> [String: CampaignStatistics] {
        let book = try await book(of: store)
        let takenDown = try await takenDown(in: store).map { $0.campaign ?? Campaign(id: $0.id, advertiser: "", creatives: []) }
        let campaigns = (book?.campaigns ?? []) + takenDown
        guard !campaigns.isEmpty else { return [:] }
        // It reads the ledger.
        let delivered = try await store.read(for: .background) { _ in
            try ledger.delivered(campaigns.map { DeliveryQuery($0, at: now) })
        }
        let figures = zip(campaigns, delivered).map { campaign, delivered in
            let pace = CampaignPace(campaign)
            let progress = CampaignProgress(
                campaign: campaign, delivered: delivered, reserved: 0, due: pace.due(at: now),
                dueToday: pace.dueToday(at: now, in: campaign.zone.clocks.day(of: now)))
            var figures = progress.figures
            if (campaign.ends ?? .max) > now { figures.blockage = book.flatMap { blockage(of: campaign.id, in: $0) } }
            return (campaign.id, figures)
        }
        return Dictionary(figures) { first, _ in first }
    }
}

extension DeliveryQuery {
    /// What a campaign has delivered of its goal's unit, of impressions without one, in all and on the day of a moment.
    init(_ campaign: Campaign, at now: Int64) {
        self.init(
            campaign: campaign.id, kind: campaign.goal?.kind ?? .impression, day: campaign.zone.clocks.day(of: now).lowerBound)
    }
}

extension Campaign.Goal {
    /// Whether it is reached by so many, in all or today.
    func obstacle(_ delivered: Int64, _ today: Int64) -> IneligibilityReason? {
        if let total, delivered >= Int64(total) { return .goalReached }
        if let daily, today >= Int64(daily) { return .dailyGoalReached }
        return nil
    }

    /// What there still is to deliver, in all and today.
    func left(of delivered: DeliveryCount) -> Int64 {
        min(total.map { Int64($0) - delivered.total } ?? .max, daily.map { Int64($0) - delivered.today } ?? .max)
    }
}
