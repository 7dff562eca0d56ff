/// The ad slots that campaigns can use and the viewer data of requests, as configured.
package struct CampaignInventory: Sendable {
    private let parts: [(feed: String, section: String?, hasSlots: Bool)]
    private let hasAttributes: Bool
    private let hasViewers: Bool

    package init(_ parts: [(feed: String, section: String?, hasSlots: Bool)], hasAttributes: Bool, hasViewers: Bool) {
        (self.parts, self.hasAttributes, self.hasViewers) = (parts, hasAttributes, hasViewers)
    }

    fileprivate func blockage(of campaign: Campaign) -> String? {
        let targeting = campaign.targeting
        if !hasAttributes, !targeting.any.isEmpty || !targeting.all.isEmpty || !targeting.none.isEmpty {
            return
                "targeting: attributes of the viewer require viewers.attributes-header or viewers.jwt.attribute-claims, which are not set"
        }
        if !hasViewers, !campaign.caps.isEmpty { return "caps: they require a viewer, and neither viewers.header nor viewers.jwt is set" }
        let fitting = parts.filter { part in
            (targeting.feeds.isEmpty || targeting.feeds.contains(part.feed))
                && (targeting.sections.isEmpty || part.section.map(targeting.sections.contains) ?? false)
        }
        if fitting.isEmpty {
            return targeting.sections.isEmpty
                ? "targeting: unknown feed" : "targeting: none of its sections is in one of its feeds"
        }
        guard !fitting.contains(where: \.hasSlots) else { return nil }
        return "its feeds and sections show no ads, or none that rotate (ads.per-page, ads.placement, ads.scope)"
    }
}

extension Campaign {
    /// Returns the reason why the campaign can never be shown, for any viewer at any time; nil if it can be.
    package func blockage(in inventory: CampaignInventory?, now: Int64? = nil) -> String? {
        if let pair = targeting.contradiction { return "targeting: no viewer fits: '\(pair)' is both required and excluded" }
        let pace = CampaignPace(self)
        if pace.hasNoTime { return "targeting: none of its hours and days is between starts and ends" }
        if let now, pace.hasNoTime(after: now) { return "targeting: none of its hours and days is left before ends" }
        return inventory?.blockage(of: self)
    }
}

extension Campaigns {
    package func blockage(of id: String, in campaignIndex: CampaignIndex, now: Int64) -> String? {
        guard let index = campaignIndex.index(of: id) else { return nil }
        if let reason = campaignIndex.campaigns[index].blockage(in: inventory, now: now) { return reason }
        return campaignIndex.hasCreatives(index) ? nil : "none of its creatives exists and has a cell in a layout"
    }

    package func blockages(in store: any FeedStore, now: Int64) async throws -> [(campaign: String, reason: String)] {
        guard let campaignIndex = try await campaignIndex(of: store) else { return [] }
        return campaignIndex.campaigns.filter { ($0.ends ?? .max) > now }.compactMap { campaign in
            blockage(of: campaign.id, in: campaignIndex, now: now).map { (campaign.id, $0) }
        }
    }
}
