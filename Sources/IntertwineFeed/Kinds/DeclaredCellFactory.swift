/// Makes the cells of one type of a declared kind: the first whose conditions hold shows the item, and of each companion too.
struct DeclaredCellFactory: CellViewModelFactory {
    let identifier: String
    let companions: [String]
    /// By the companion that they are; those of the first cell under nil.
    private let cells: [String?: [DeclaredCell]]
    private let screen: DeclaredScreen?
    private let destination: FieldReference?
    private let plan: CommandPlan

    /// - Parameter cells: of one layout and type; nil is returned where there is none.
    init?(cells: [DeclaredCell], screen: DeclaredScreen?, destination: FieldReference?, plan: CommandPlan) {
        guard let first = cells.first(where: { $0.companion == nil }) else { return nil }
        identifier = first.identifier
        self.cells = Dictionary(grouping: cells, by: \.companion)
        companions = cells.reduce(into: []) { names, cell in
            if let name = cell.companion, !names.contains(name) { names.append(name) }
        }
        self.screen = screen
        self.destination = destination
        self.plan = plan
    }

    /// - Throws: ``ItemFault`` where the body is not what the kind declares, ``CellFactoryError/noFactory(_:)`` where no condition holds.
    func makeViewModel(for item: FeedItem, cell id: String, in context: CellContext) throws -> CellViewModel {
        guard let viewModel = try makeViewModel(nil, for: item, cell: id, in: context) else {
            throw CellFactoryError.noFactory(ItemForm(kind: item.kind, variant: item.variant))
        }
        return viewModel
    }

    func makeCompanion(_ name: String, for item: FeedItem, cell id: String, in context: CellContext) throws -> CellViewModel? {
        try makeViewModel(name, for: item, cell: id, in: context)
    }

    private func makeViewModel(_ companion: String?, for item: FeedItem, cell id: String, in context: CellContext) throws -> CellViewModel?
    {
        var values = try FieldValues(item)
        let cell = try cells[companion]?.first { try $0.conditions.allSatisfy { try $0.holds(for: values) } }
        guard let cell else { return nil }
        var bindings: [Binding] = []
        bindings.reserveCapacity(cell.bindings.count)
        for (part, source) in cell.bindings {
            if let value = try source.value(of: &values, in: context) { bindings.append(Binding(part, value)) }
        }
        let subject = CommandSubject(
            cell: id, item: item, presentation: try screen?.presentation(of: &values, in: context),
            destination: try destination.flatMap { try values.text($0) }, context: context)
        return CellViewModel(
            identifier: cell.identifier, size: cell.size.size(width: context.width),
            commands: plan.commands(configuration: BindCommand(bindings)), subject: subject)
    }
}
