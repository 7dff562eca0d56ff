internal import IntertwineFeed

/// The sections that configuration declares, and the feeds that are composed of them.
struct DeclaredFeeds {
    /// The feed that `/feed` serves. It is always there.
    static let mainName = SectionPlan.mainName

    var sections: [DeclaredSection] = []
    /// The names of each feed's sections, in order.
    var feeds: [String: [String]] = [:]

    /// How the store is to lay the items out.
    var plans: [SectionPlan] {
        sections.map { SectionPlan($0.name, kinds: $0.kinds, fields: [$0.order.field].compactMap { $0 }, order: $0.order) }
    }

    /// What each feed shows.
    ///
    /// - Parameter lanes: where the store keeps each section.
    func sources(lanes: [String: Lane], scope: FeedSettings.AdScope) -> [String: any DataSource] {
        var sources: [String: any DataSource] = [Self.mainName: FlatDataSource(order: section(Self.mainName).order)]
        for (feed, names) in feeds {
            sources[feed] = SectionedDataSource(
                names.compactMap { name in
                    let section = section(name)
                    return lanes[name].map {
                        FeedSection(name, title: section.title, lane: $0, order: section.order, placement: section.placement(scope))
                    }
                }, showsAdsAlone: feed == Self.mainName)
        }
        return sources
    }

    private func section(_ name: String) -> DeclaredSection {
        sections.first { $0.name == name } ?? DeclaredSection(name: name)
    }
}
