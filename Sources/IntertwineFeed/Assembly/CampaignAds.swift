struct CampaignAds: AdSource {
    struct Decision: Sendable {
        var page: AdServer.Page
        var served: [AdServer.ServedAd?]
        var wasServed = false
    }

    private static let attempts = 8

    let name = "c"
    let campaigns: Campaigns
    let feed: String
    let digest: UInt64

    func begin(_ slots: inout AdSlots) throws {
        let session = slots.session
        guard let campaignIndex = try campaigns.campaignIndex(at: session.version, in: session.snapshot, of: session.store),
            campaignIndex.hasActiveCampaigns(feed: feed, at: session.request.now), var targeting = session.client.targeting
        else { return }
        targeting.context = session.request.filters.flatMap { name, values in values.map { Targeting.context(name, $0) } }.sorted()
        (slots.targeting, slots.campaignIndex) = (targeting, campaignIndex)
    }

    func fill(_ slots: inout AdSlots) throws {
        guard let targeting = slots.targeting, let campaignIndex = slots.campaignIndex else { return }
        let session = slots.session
        slots.distances.begin(AdDecision.seed(targeting.viewer, digest, UInt64(bitPattern: targeting.moment)))
        guard !slots.slots.isEmpty else { return }
        var page = AdServer.Page(
            slots: slots.slots.map { AdSlotContext(feed: feed, section: slots.section(of: $0), layout: session.request.layout) },
            identity: slots.identity, targeting: targeting, now: session.request.now)
        (page.coordinates, page.distances) = (slots.slots.map { slots.coordinate(of: $0) }, slots.distances)
        for _ in 0..<Self.attempts {
            let served = try campaigns.delivery.choose(page, of: campaignIndex)
            let cells = try cells(of: served, in: slots.context, of: campaignIndex, for: session)
            let missing = zip(served, cells).compactMap { served, cell in cell == nil ? served : nil }
            guard missing.isEmpty else {
                campaigns.delivery.withdraw(served.compactMap(\.self), page)
                page.banned += missing.compactMap { campaignIndex.number(of: $0.creative) }
                continue
            }
            var wasServed = false
            if !targeting.allocates {
                // For the preview of a page that was allocated before, the creatives that could not be shown are known from that time.
                let banned = campaigns.delivery.banned(on: page, of: campaignIndex)
                if page.banned.isEmpty { page.banned = banned ?? [] }
                wasServed = banned != nil
            }
            slots.decision = Decision(page: page, served: served, wasServed: wasServed)
            for (slot, cell) in cells.enumerated() {
                guard let cell, let served = cell.served, let index = campaignIndex.index(of: served.campaign) else { continue }
                slots.fill(slot, with: cell)
                slots.distances.note(
                    AdKey(served.creative), of: campaignIndex.campaigns[index].priority, labels: campaignIndex.labels(of: index),
                    at: page.coordinates[slot])
            }
            return
        }
        slots.decision = Decision(page: page, served: page.slots.map { _ in nil })
    }

    /// Each creative is read once, even if several slots show it.
    private func cells(
        of served: [AdServer.ServedAd?], in context: CellContext, of campaignIndex: CampaignIndex, for session: PageSession
    ) throws -> [CellRenderer.PlacedCell?] {
        var known: [AdServer.ServedAd: CellRenderer.PlacedCell?] = [:]
        return try served.map { served in
            guard let served else { return nil }
            let cell = try known[served] ?? self.cell(of: served, in: context, of: campaignIndex, for: session)
            known[served] = .some(cell)
            return cell
        }
    }

    private func cell(
        of served: AdServer.ServedAd, in context: CellContext, of campaignIndex: CampaignIndex, for session: PageSession
    ) throws -> CellRenderer.PlacedCell? {
        guard let index = campaignIndex.index(of: served.campaign),
            let item = try session.snapshot.item(kind: served.creative.kind, id: served.creative.id)
        else { return nil }
        let campaign = campaignIndex.campaigns[index]
        var context = context
        context.disclosure = campaign.disclosure(in: context.language)
        var renderer = session.renderer(in: context)
        var cell = try renderer.cell(of: item)
        cell?.served = served
        cell?.served?.frequencyCapTTL = campaign.longestCapWindow
        return cell
    }
}
