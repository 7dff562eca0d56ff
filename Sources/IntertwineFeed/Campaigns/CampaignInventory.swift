/// The ad slots that campaigns can use and the viewer data of requests, as configured.
package struct CampaignInventory: Sendable {
    /// The sections of all feeds, or whole feeds without sections.
    private let parts: [(feed: String, section: String?, hasSlots: Bool)]
    private let hasAttributes: Bool
    private let hasViewers: Bool

    /// - Parameters:
    ///   - sources: The data source of each feed, by the feed's name.
    ///   - placement: Returns the ad placement of a feed, for sections that have no placement of their own.
    ///   - hasAttributes: True if requests carry viewer attributes.
    ///   - hasViewers: True if requests identify viewers.
    package init(
        _ sources: [String: any DataSource], placement: (_ feed: String) -> any AdPlacement, hasAttributes: Bool, hasViewers: Bool
    ) {
        parts = sources.flatMap { feed, source in
            let sections = FeedSections(source.sections, placement: placement(feed))
            return sections.indices.map { section in
                (feed, sections.name(of: section), sections.placement(in: section).supply.fillsSlots)
            }
        }
        (self.hasAttributes, self.hasViewers) = (hasAttributes, hasViewers)
    }

    /// Returns the reason why no request can show a campaign; nil if some request can.
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
    ///
    /// - Parameters:
    ///   - inventory: The available slots; nil if they are unknown.
    ///   - now: The moment after which hours count; nil to count all hours of the campaign.
    package func blockage(in inventory: CampaignInventory?, now: Int64? = nil) -> String? {
        if let pair = targeting.contradiction { return "targeting: no viewer fits: '\(pair)' is both required and excluded" }
        let pace = CampaignPace(self)
        if pace.hasNoTime { return "targeting: none of its hours and days is between starts and ends" }
        if let now, pace.hasNoTime(after: now) { return "targeting: none of its hours and days is left before ends" }
        return inventory?.blockage(of: self)
    }
}

extension Campaigns {
    /// Returns the reason why a campaign of an index cannot be shown in the current state; nil if it can be.
    package func blockage(of id: String, in campaignIndex: CampaignIndex, now: Int64) -> String? {
        guard let index = campaignIndex.index(of: id) else { return nil }
        if let reason = campaignIndex.campaigns[index].blockage(in: inventory, now: now) { return reason }
        return campaignIndex.hasCreatives(index) ? nil : "none of its creatives exists and has a cell in a layout"
    }

    /// Returns the ids of all campaigns that have not ended and cannot be shown, each with the reason.
    package func blockages(in store: any FeedStore, now: Int64) async throws -> [(campaign: String, reason: String)] {
        guard let campaignIndex = try await campaignIndex(of: store) else { return [] }
        return campaignIndex.campaigns.filter { ($0.ends ?? .max) > now }.compactMap { campaign in
            blockage(of: campaign.id, in: campaignIndex, now: now).map { (campaign.id, $0) }
        }
    }
}
