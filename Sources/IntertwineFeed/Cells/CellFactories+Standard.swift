extension CellFactories {
    /// The factories of the two kinds that the product comes with, and of section headers.
    ///
    /// - Throws: ``CommandPlanError`` where a slot names a command that is unknown or cannot stand there.
    public static func standard(
        _ configuration: CellConfiguration = CellConfiguration(), commands registry: CommandRegistry = .standard
    ) throws -> CellFactories {
        let viewer: CommandNeeds = configuration.hasViewers ? .viewer : []
        let users = try CommandPlan(
            kind: "user", slots: configuration.userCommands, registry: registry, offers: viewer.union(.presentation))
        let advertisements = try CommandPlan(
            kind: "advertisement", slots: configuration.advertisementCommands, registry: registry, offers: viewer.union(.destination))
        var factories = CellFactories()
        let picture = ItemForm(kind: "advertisement", variant: Advertisement.Variant.image.rawValue)
        for layout in CellLayout.allCases {
            for variant in User.Variant.allCases {
                guard let cell = configuration.userCells[variant] else { continue }
                try factories.register(
                    cell.makeFactory(plan: users, layout: layout), for: ItemForm(kind: "user", variant: variant.rawValue), prefix: "user",
                    layout: layout)
            }
            try factories.register(
                AdvertisementCellFactory(plan: advertisements, layout: layout), for: picture, prefix: "ad", lane: .advertisements,
                layout: layout)
            try factories.register(
                SectionHeaderCellFactory(layout: layout), for: ItemForm(kind: SectionHeader.kind, variant: ""), prefix: SectionHeader.kind,
                layout: layout)
        }
        return factories
    }
}
