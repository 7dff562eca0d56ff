/// Makes the cells of one type of a declared kind: the first whose conditions hold shows the item.
struct DeclaredCellFactory: CellViewModelFactory {
    let identifier: String
    private let cells: [DeclaredCell]
    private let screen: DeclaredScreen?
    private let destination: FieldReference?
    private let plan: CommandPlan

    /// - Parameter cells: of one layout and type; nil is returned where there is none.
    init?(cells: [DeclaredCell], screen: DeclaredScreen?, destination: FieldReference?, plan: CommandPlan) {
        guard let first = cells.first else { return nil }
        identifier = first.identifier
        self.cells = cells
        self.screen = screen
        self.destination = destination
        self.plan = plan
    }

    /// - Throws: ``ItemFault`` where the body is not what the kind declares, ``CellFactoryError/noFactory(_:)`` where no condition holds.
    func makeViewModel(for item: FeedItem, cell id: String, in context: CellContext) throws -> CellViewModel {
        var values = try FieldValues(item)
        guard let cell = try cells.first(where: { try $0.conditions.allSatisfy { try $0.holds(for: values) } }) else {
            throw CellFactoryError.noFactory(ItemForm(kind: item.kind, variant: item.variant))
        }
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
