extension CellFactories {
    /// Registers the cells of a declared kind, for each layout and type that it has cells for.
    ///
    /// - Parameter hasViewers: whether requests can have a viewer at all; without, commands that act for one are refused.
    /// - Throws: ``KindFault`` where an action names a command that is unknown or cannot stand there, or the kind contradicts another.
    public mutating func register(
        _ kind: DeclaredKind, commands registry: CommandRegistry = .standard, hasViewers: Bool = true
    ) throws(KindFault) {
        var offers: CommandNeeds = hasViewers ? .viewer : []
        if kind.screen != nil { offers.insert(.presentation) }
        if kind.destination != nil { offers.insert(.destination) }
        let plan = try Self.plan(of: kind, registry: registry, offers: offers)
        let variants = kind.declaration.variants.isEmpty ? [""] : kind.declaration.variants
        if kind.lane != .advertisements { for variant in variants { note(ItemForm(kind: kind.name, variant: variant)) } }
        for layout in CellLayout.allCases {
            for variant in variants {
                let cells = (kind.cells[layout] ?? []).compactMap { $0.narrowed(to: variant) }
                guard let factory = DeclaredCellFactory(cells: cells, screen: kind.screen, destination: kind.destination, plan: plan) else {
                    continue
                }
                do {
                    try register(
                        factory, for: ItemForm(kind: kind.name, variant: variant), prefix: kind.prefix, lane: kind.lane, layout: layout)
                } catch {
                    throw KindFault(["prefix"], error.description)
                }
            }
        }
    }

    private static func plan(
        of kind: DeclaredKind, registry: CommandRegistry, offers: CommandNeeds
    ) throws(KindFault) -> CommandPlan {
        // One slot at a time, so that the fault can say which.
        for (slot, commands) in kind.declaration.actions.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            do {
                _ = try CommandPlan(kind: kind.name, slots: [slot: commands], registry: registry, offers: offers)
            } catch {
                throw KindFault(["actions", slot.rawValue], error.description + remedy(of: error))
            }
        }
        do {
            return try CommandPlan(kind: kind.name, slots: kind.declaration.actions, registry: registry, offers: offers)
        } catch {
            throw KindFault(["actions"], error.description + remedy(of: error))
        }
    }

    private static func remedy(of error: CommandPlanError) -> String {
        guard case .unmetNeeds(_, let needs, _, _) = error else { return "" }
        if needs.contains(.destination) { return ": give the kind a destination, a required url field" }
        if needs.contains(.presentation) { return ": give the kind a presentation with a screen" }
        return needs.contains(.viewer) ? ": events.viewer-header is empty" : ""
    }
}
