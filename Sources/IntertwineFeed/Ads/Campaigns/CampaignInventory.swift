package struct CampaignInventory: Sendable {
    private let parts: [(feed: String, section: String?, hasSlots: Bool)]
    private let hasAttributes: Bool
    private let hasViewers: Bool
    /// False if a click counts only after an impression.
    let countsUnseenClicks: Bool
    private let filters: [String: [ItemFilter]]

    package init(
        _ parts: [(feed: String, section: String?, hasSlots: Bool)], hasAttributes: Bool, hasViewers: Bool, countsUnseenClicks: Bool,
        filters: [String: [ItemFilter]] = [:]
    ) {
        (self.parts, self.hasAttributes, self.hasViewers, self.filters) = (parts, hasAttributes, hasViewers, filters)
        self.countsUnseenClicks = countsUnseenClicks
    }

    /// The condition of a filter's value as pages of a feed have it (`price=1` for `price=1.0`); nil if none can have it.
    private func canonical(_ condition: String, in feed: String) -> String? {
        let parts = condition.dropFirst().split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let filter = filters[feed]?.first(where: { $0.name == parts[0] }) else { return nil }
        return (try? filter.value(String(parts[1]))).map { Targeting.context(parts[0], $0) }
    }

    /// Returns a campaign with the values of filters as pages have them.
    func canonical(_ campaign: Campaign) -> Campaign {
        var campaign = campaign
        let feeds = campaign.targeting.feeds.isEmpty ? filters.keys.sorted() : campaign.targeting.feeds
        for conditions in [\Targeting.all, \.none, \.anyContext] {
            campaign.targeting[keyPath: conditions] = campaign.targeting[keyPath: conditions].map { text in
                guard Targeting.isContext(text) else { return text }
                return feeds.lazy.compactMap { canonical(text, in: $0) }.first ?? text
            }
        }
        return campaign
    }

    /// Returns the first condition that no page of a feed can meet.
    private func obstacle(of targeting: Targeting, in feed: String) -> String? {
        func isImpossible(_ condition: String) -> Bool { canonical(condition, in: feed) == nil }
        if let missing = targeting.all.first(where: { Targeting.isContext($0) && isImpossible($0) }) { return missing }
        return targeting.anyContext.allSatisfy(isImpossible) ? targeting.anyContext.first : nil
    }

    fileprivate func blockage(of campaign: Campaign) -> String? {
        let targeting = campaign.targeting
        if !hasAttributes, targeting.asksAttributes {
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
        let shown = fitting.filter(\.hasSlots)
        if shown.isEmpty { return "its feeds and sections show no ads, or none that rotate (ads.per-page, ads.placement, ads.scope)" }
        let obstacles = shown.compactMap { obstacle(of: targeting, in: $0.feed) }
        guard obstacles.count == shown.count, let obstacle = obstacles.first else { return nil }
        return "targeting: none of its feeds has a filter that can have the context '\(obstacle.dropFirst())'"
    }
}

extension Campaign {
    var pause: IneligibilityReason? { isPaused ? override == nil ? .paused : .stopped : nil }

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
        let campaign = campaignIndex.campaigns[index]
        if let reason = campaign.blockage(in: inventory, now: now) { return reason }
        if let name = campaignIndex.houseAd(of: index) { return "creatives: \(CreativeNames.houseAd(name))" }
        if campaignIndex.hasCreatives(index) { return nil }
        if let (member, unit, slot) = unreported(by: campaign) {
            return "\(member): the kinds of its creatives have no slot '\(slot.rawValue)', so none of the \(unit.rawValue) counts"
        }
        let hidden = hiddenCreatives(of: campaign, at: now).map { "'\($0.name)' is \($0.state == "draft" ? "a draft" : $0.state)" }
        if !hidden.isEmpty { return "none of its creatives is public: " + hidden.joined(separator: ", ") }
        return "none of its creatives exists and has a cell in a layout"
    }

    package func blockage(of id: String, now: Int64) -> String? { blockage(of: id, in: latest, now: now) }

    package func blockages(in store: any FeedStore, now: Int64) async throws -> [(campaign: String, reason: String)] {
        guard let campaignIndex = try await campaignIndex(of: store) else { return [] }
        return campaignIndex.campaigns.filter { ($0.ends ?? .max) > now }.compactMap { campaign in
            blockage(of: campaign.id, in: campaignIndex, now: now).map { (campaign.id, $0) }
        }
    }
}

extension Campaign {
    /// The reason why the campaign is not shown at a moment, from its declaration alone.
    package func pause(at now: Int64) -> IneligibilityReason? {
        if let pause { return pause }
        if let ends, now >= ends { return .ended }
        return starts.map { now < $0 } ?? false ? .notStarted : nil
    }

    /// True if a campaign of a lower priority gets no slot while this one runs.
    fileprivate func starves(_ other: Campaign, at now: Int64) -> Bool {
        func isWithin(_ own: [String], _ its: [String]) -> Bool { own.isEmpty || !its.isEmpty && its.allSatisfy(own.contains) }
        guard priority.rank < other.priority.rank, goal == nil, caps.isEmpty, labels.isEmpty, !isPaused, !other.isPaused,
            !targeting.asksViewer, !targeting.hasTimes, targeting.layouts.isEmpty
        else { return false }
        let start = max(now, starts ?? .min, other.starts ?? .min)
        return start < min(ends ?? .max, other.ends ?? .max) && isWithin(targeting.feeds, other.targeting.feeds)
            && isWithin(targeting.sections, other.targeting.sections)
    }

    /// Notices about campaigns that no error prevents: those that are over, and those that leave no ad slot to others.
    package static func notices(on campaigns: [Campaign], at now: Int64) -> [(campaign: String, reason: String)] {
        campaigns.flatMap { campaign -> [(campaign: String, reason: String)] in
            if campaign.pause(at: now) == .ended { return [(campaign.id, "has ended")] }
            let starved = campaigns.filter { campaign.starves($0, at: now) }.map { "'\($0.id)'" }
            if starved.isEmpty { return [] }
            let some = starved.prefix(3).joined(separator: ", ") + (starved.count > 3 ? " and \(starved.count - 3) others" : "")
            return [(campaign.id, "has no goal and no caps, so it takes all ad slots, and none is left for \(some)")]
        }
    }
}
