/// Makes the cells of one type of a declared kind: the first whose conditions hold shows the item, and of each companion too.
private struct DeclaredCellFactory: CellViewModelFactory {
    let identifier: String
    let cells: [CellIdentifier]
    let chain: [CellIdentifier]
    let companions: [String]
    /// By the companion that they are; those of the first cell under nil.
    private let declared: [String?: [DeclaredCell]]
    private let screen: DeclaredScreen?
    private let destination: FieldReference?
    private let plan: CellCommands

    /// - Parameter cells: of one layout and type; nil is returned where there is none.
    init?(cells: [DeclaredCell], screen: DeclaredScreen?, destination: FieldReference?, plan: CellCommands) {
        guard let first = cells.first(where: { $0.companion == nil }) else { return nil }
        identifier = first.identifier.name
        self.cells = cells.map(\.identifier)
        chain = cells.filter { $0.companion == nil }.map(\.identifier)
        declared = Dictionary(grouping: cells, by: \.companion)
        companions = cells.reduce(into: []) { names, cell in
            if let name = cell.companion, !names.contains(name) { names.append(name) }
        }
        self.screen = screen
        self.destination = destination
        self.plan = plan
    }

    /// - Throws: ``ItemError`` where the body is not what the kind declares, ``CellFactoryError/noFactory(_:)`` where no condition holds.
    func makeViewModel(for item: FeedItem, cell id: String, in context: CellContext) throws -> CellViewModel {
        guard let viewModel = try makeViewModel(nil, for: item, cell: id, in: context) else {
            throw CellFactoryError.noFactory(ItemType(kind: item.kind, variant: item.variant))
        }
        return viewModel
    }

    func makeCompanion(_ name: String, for item: FeedItem, cell id: String, in context: CellContext) throws -> CellViewModel? {
        try makeViewModel(name, for: item, cell: id, in: context)
    }

    private func makeViewModel(_ companion: String?, for item: FeedItem, cell id: String, in context: CellContext) throws -> CellViewModel?
    {
        var values = try FieldValues(item, in: context.language)
        var unknown: DeclaredCell?
        var chosen: DeclaredCell?
        for cell in declared[companion] ?? [] where chosen == nil {
            guard try cell.conditions.allSatisfy({ try $0.isSatisfied(by: values) }) else { continue }
            if context.knows(cell.identifier), context.knows(bindings: cell.types) { chosen = cell } else { unknown = unknown ?? cell }
        }
        guard let cell = chosen ?? unknown else { return nil }
        let size = cell.size.size(width: context.width)
        let bindings = try cell.bindings(of: &values, in: size, context)
        // At once: an item of which the screen cannot be told has no cell.
        let presentation = try screen?.presentation(of: &values, in: context)
        let subject = CommandSubject(
            cell: id, item: item, presentation: presentation,
            destination: try destination.flatMap { try values.text($0) }, context: context)
        var viewModel = CellViewModel(
            identifier: cell.identifier.name, size: size, commands: plan.filled(by: BindCommand(bindings)), subject: subject)
        viewModel.version = cell.identifier.version
        return viewModel
    }
}

/// A cell of a declared kind, with everything found and checked that the declaration names.
struct DeclaredCell: Sendable {
    let identifier: CellIdentifier
    let size: SizeRule
    var conditions: [CellCondition]
    let bindings: [DeclaredBinding]
    /// Nil for the first cell of an item.
    let companion: String?
    /// Those of its bindings.
    let types: Set<String>

    /// What fills the cell.
    ///
    /// - Throws: ``ItemError`` where a field is not what the kind declares.
    fileprivate func bindings(of values: inout FieldValues, in size: CellSize, _ context: CellContext) throws(ItemError) -> [Binding] {
        var filled: [Binding] = []
        filled.reserveCapacity(bindings.count)
        for binding in bindings {
            guard var value = try binding.source[context.language].value(of: &values, in: size, context) else { continue }
            if case .image(var picture) = value {
                picture.alternative = binding.isDecorative ? "" : try binding.alternative?[context.language].text(of: &values, in: context)
                value = .image(picture)
            }
            filled.append(Binding(binding.part, value))
        }
        var title: String?
        for binding in filled {
            guard title == nil, case .text(let text) = binding.value else { continue }
            title = text
        }
        guard let title else { return filled }
        for index in filled.indices {
            guard case .image(var picture) = filled[index].value, picture.alternative == nil else { continue }
            picture.alternative = title
            filled[index].value = .image(picture)
        }
        return filled
    }

    /// The cell as items of a type see it: without the conditions that ask for the type. Nil where one of them rules the type out.
    fileprivate func narrowed(to variant: String) -> DeclaredCell? {
        guard conditions.allSatisfy({ $0.admits(variant: variant) }) else { return nil }
        var cell = self
        cell.conditions.removeAll { $0.reference == .variant }
        return cell
    }
}

/// A condition with its values read as the field's type reads them.
struct CellCondition: Sendable {
    enum Test: Sendable {
        case texts([String])
        case numbers([Double])
        case present(Bool)
        case between(Double, Double)
    }

    let reference: FieldReference
    let test: Test

    /// - Throws: ``ItemError`` where the field is not what the kind declares.
    func isSatisfied(by values: FieldValues) throws(ItemError) -> Bool {
        let text = try values.text(reference)
        switch test {
        case .present(let isPresent): return (text != nil) == isPresent
        case .texts(let texts): return text.map(texts.contains) ?? false
        case .numbers(let numbers): return text.flatMap { Double($0) }.map(numbers.contains) ?? false
        case .between(let minimum, let maximum): return text.flatMap { Double($0) }.map { minimum <= $0 && $0 <= maximum } ?? false
        }
    }

    /// Whether it can hold for items of a type: decided for good where it asks for nothing else.
    func admits(variant: String) -> Bool {
        guard reference == .variant, case .texts(let variants) = test else { return true }
        return variants.contains(variant)
    }
}

/// The screen that cells of a declared kind open, with everything found and checked that the declaration names.
struct DeclaredScreen: Sendable {
    let type: String
    let screen: String
    let arguments: [(name: String, source: ByLanguage<BindingSource>)]

    func presentation(of values: inout FieldValues, in context: CellContext) throws(ItemError) -> Presentation {
        var read: [Presentation.Argument] = []
        read.reserveCapacity(arguments.count)
        for (name, source) in arguments {
            if let text = try source[context.language].text(of: &values, in: context) { read.append(Presentation.Argument(name, text)) }
        }
        return Presentation(type: type, screen: screen, arguments: read)
    }
}

extension CellFactories {
    /// Registers the cells of a declared kind, for each layout and type that it has cells for.
    ///
    /// - Parameter hasViewers: whether requests can have a viewer at all; without, commands that act for one are refused.
    /// - Throws: `KindError` where an action names a command that is unknown or cannot stand there, or the kind contradicts another.
    package mutating func register(
        _ kind: DeclaredKind, commands registry: CommandRegistry = .standard, hasViewers: Bool = true
    ) throws(KindError) {
        var offers: CommandRequirements = hasViewers ? .viewer : []
        if kind.screen != nil { offers.insert(.presentation) }
        if kind.destination != nil { offers.insert(.destination) }
        let plan = try Self.plan(of: kind, registry: registry, offers: offers)
        let variants = kind.declaration.variants.isEmpty ? [""] : kind.declaration.variants
        if kind.stream != .advertisements { for variant in variants { index(ItemType(kind: kind.name, variant: variant)) } }
        for layout in CellLayout.allCases {
            for variant in variants {
                let cells = (kind.cells[layout] ?? []).compactMap { $0.narrowed(to: variant) }
                guard let factory = DeclaredCellFactory(cells: cells, screen: kind.screen, destination: kind.destination, plan: plan) else {
                    continue
                }
                do {
                    try register(
                        factory, for: ItemType(kind: kind.name, variant: variant), prefix: kind.prefix, stream: kind.stream, layout: layout)
                } catch {
                    throw KindError(["prefix"], error.description)
                }
            }
        }
    }

    private static func plan(
        of kind: DeclaredKind, registry: CommandRegistry, offers: CommandRequirements
    ) throws(KindError) -> CellCommands {
        // One slot at a time, so that the fault can say which.
        for (slot, commands) in kind.declaration.actions.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            do {
                _ = try CellCommands(kind: kind.name, slots: [slot: commands], registry: registry, offers: offers)
            } catch {
                throw KindError(["actions", slot.rawValue], error.description + remedy(of: error))
            }
        }
        do {
            return try CellCommands(kind: kind.name, slots: kind.declaration.actions, registry: registry, offers: offers)
        } catch {
            throw KindError(["actions"], error.description + remedy(of: error))
        }
    }

    private static func remedy(of error: CellCommandsError) -> String {
        guard case .unmetNeeds(_, let needs, _, _) = error else { return "" }
        if needs.contains(.destination) { return ": give the kind a destination, a required url field" }
        if needs.contains(.presentation) { return ": give the kind a presentation with a screen" }
        return needs.contains(.viewer) ? ": events.viewer-header is empty" : ""
    }
}
