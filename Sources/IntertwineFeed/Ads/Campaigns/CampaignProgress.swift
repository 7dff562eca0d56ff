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
                dueToday: pace.dueToday(at: now, in: campaign.zone.clocks.day(of: now), delivered))
            var figures = progress.figures
            if (campaign.ends ?? .max) > now { figures.blockage = campaignIndex.flatMap { blockage(of: campaign.id, in: $0, now: now) } }
            return (campaign.id, figures)
        }
        return Dictionary(figures) { first, _ in first }
    }
}

extension Campaigns {
    /// The counts of each campaign by the days of its own time zone, if the campaign is known. Offsets are whole quarters, so each quarter belongs to one day.
    package func report(
        byOwnDays days: ClosedRange<Int>, of archive: any LedgerArchive, in store: any FeedStore
    ) async throws -> LedgerReport {
        let takenDown = try await takenDown(in: store).compactMap(\.campaign)
        let zones = Dictionary(((try await campaignIndex(of: store)?.campaigns ?? []) + takenDown).map { ($0.id, $0.zone) }) { first, _ in
            first
        }
        let around = (days.lowerBound - 1)...(days.upperBound + 1)
        let spans = Int64(around.lowerBound) * 96..<Int64(around.upperBound + 1) * 96
        var report = LedgerReport(rows: [])
        for key in try await archive.report(days: around, by: .campaign).rows.map(\.key) {
            guard case .name(let id) = key, !id.isEmpty else { continue }
            guard let clocks = (zones[id] ?? (sources.contains(id) ? .utc : nil))?.clocks else {
                report.unknownZones.append(id)
                continue
            }
            var counts: [Int: [LedgerEvent.Kind: Int]] = [:]
            for one in try await archive.deliveries(of: id, in: spans) {
                let moment = one.span * 900_000
                let day = Int(TimeZoneOffsets.local(moment + clocks.offset(at: moment)).day)
                if days.contains(day) { counts[day, default: [:]][one.kind, default: 0] += one.count }
            }
            for (day, counts) in counts.sorted(by: { $0.key < $1.key }) {
                guard report.rows.count < LedgerReport.rowLimit else { throw LedgerReport.TooManyRowsError() }
                report.rows.append(LedgerReport.Row(key: key, second: .day(day), counts: counts))
            }
        }
        return report
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
