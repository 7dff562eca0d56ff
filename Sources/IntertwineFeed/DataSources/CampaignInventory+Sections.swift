extension CampaignInventory {
    package init(
        _ sources: [String: any DataSource], placement: (_ feed: String) -> any AdPlacement, hasAttributes: Bool, hasViewers: Bool,
        countsUnseenClicks: Bool, filters: [String: [ItemFilter]]
    ) {
        let parts = sources.flatMap { feed, source in
            let sections = FeedSections(source.sections, placement: placement(feed))
            return sections.indices.map { section in
                (feed: feed, section: sections.name(of: section), hasSlots: sections.placement(in: section).supply.fillsSlots)
            }
        }
        self.init(parts, hasAttributes: hasAttributes, hasViewers: hasViewers, countsUnseenClicks: countsUnseenClicks, filters: filters)
    }
}
