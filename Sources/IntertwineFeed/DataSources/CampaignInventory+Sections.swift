extension CampaignInventory {
    /// Creates the inventory of the sections of feeds.
    ///
    /// - Parameters:
    ///   - sources: The data source of each feed, by the feed's name.
    ///   - placement: Returns the ad placement of a feed, for sections that have no placement of their own.
    ///   - hasAttributes: True if requests carry viewer attributes.
    ///   - hasViewers: True if requests identify viewers.
    package init(
        _ sources: [String: any DataSource], placement: (_ feed: String) -> any AdPlacement, hasAttributes: Bool, hasViewers: Bool
    ) {
        let parts = sources.flatMap { feed, source in
            let sections = FeedSections(source.sections, placement: placement(feed))
            return sections.indices.map { section in
                (feed: feed, section: sections.name(of: section), hasSlots: sections.placement(in: section).supply.fillsSlots)
            }
        }
        self.init(parts, hasAttributes: hasAttributes, hasViewers: hasViewers)
    }
}
