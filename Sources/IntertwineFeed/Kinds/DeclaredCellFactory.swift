private struct DeclaredCellFactory: CellViewModelFactory, ReportingFactory {
    let identifier: String
    let cells: [CellIdentifier]
    let chain: [CellIdentifier]
    let companions: [String]
    private let declared: [String?: [DeclaredCell]]
    private let screen: DeclaredScreen?
    private let destination: FieldReference?
    private let author: FieldReference?
    let plan: CellCommands

    init?(cells: [DeclaredCell], of kind: DeclaredKind, plan: CellCommands) {
        guard let first = cells.first(where: { $0.companion == nil }) else { return nil }
        identifier = first.identifier.name
        self.cells = cells.map(\.identifier)
        chain = cells.filter { $0.companion == nil }.map(\.identifier)
        declared = Dictionary(grouping: cells, by: \.companion)
        companions = cells.reduce(into: []) { names, cell in
            if let name = cell.companion, !names.contains(name) { names.append(name) }
        }
        (screen, destination, author, self.plan) = (kind.screen, kind.destination, kind.author, plan)
    }

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
            if context.knows(cell.identifier) { chosen = cell } else { unknown = unknown ?? cell }
        }
        guard let cell = chosen ?? unknown else { return nil }
        let size = cell.size.size(width: context.width)
        let bindings = try cell.bindings(of: &values, in: size, context)
        // The screen is evaluated immediately: an item with an invalid screen has no cell.
        let presentation = try screen?.presentation(of: &values, in: context)
        var subject = CommandSubject(
            cell: id, item: item, presentation: presentation,
            destination: try destination.flatMap { try values.text($0) }, context: context)
        subject.author = try author.flatMap { try values.text($0) }
        var viewModel = CellViewModel(
            identifier: cell.identifier.name, size: size, commands: plan.filled(by: BindCommand(bindings)), subject: subject)
        viewModel.version = cell.identifier.version
        return viewModel
    }
}

struct DeclaredCell: Sendable {
    let identifier: CellIdentifier
    let size: SizeRule
    var conditions: [CellCondition]
    let bindings: [DeclaredBinding]
    let companion: String?

    fileprivate func bindings(of values: inout FieldValues, in size: CellSize, _ context: CellContext) throws(ItemError) -> [CellBinding] {
        var filled: [CellBinding] = []
        filled.reserveCapacity(bindings.count)
        for binding in bindings {
            guard var value = try binding.source[context.language].value(of: &values, in: size, context) else { continue }
            if case .image(var image) = value {
                image.alternative = binding.isDecorative ? "" : try binding.alternative?[context.language].text(of: &values, in: context)
                value = .image(image)
            }
            filled.append(CellBinding(binding.part, value))
        }
        var title: String?
        for binding in filled {
            guard title == nil, case .text(let text) = binding.value else { continue }
            title = text
        }
        guard let title else { return filled }
        for index in filled.indices {
            guard case .image(var image) = filled[index].value, image.alternative == nil else { continue }
            image.alternative = title
            filled[index].value = .image(image)
        }
        return filled
    }

    fileprivate func narrowed(to variant: String) -> DeclaredCell? {
        guard conditions.allSatisfy({ $0.admits(variant: variant) }) else { return nil }
        var cell = self
        cell.conditions.removeAll { $0.reference == .variant }
        return cell
    }
}

struct CellCondition: Sendable {
    enum Test: Sendable {
        case texts([String])
        case numbers([Double])
        case present(Bool)
        case between(Double, Double)
    }

    let reference: FieldReference
    let test: Test

    func isSatisfied(by values: FieldValues) throws(ItemError) -> Bool {
        let text = try values.text(reference)
        switch test {
        case .present(let isPresent): return (text != nil) == isPresent
        case .texts(let texts): return text.map(texts.contains) ?? false
        case .numbers(let numbers): return text.flatMap { Double($0) }.map(numbers.contains) ?? false
        case .between(let minimum, let maximum): return text.flatMap { Double($0) }.map { minimum <= $0 && $0 <= maximum } ?? false
        }
    }

    func admits(variant: String) -> Bool {
        guard reference == .variant, case .texts(let variants) = test else { return true }
        return variants.contains(variant)
    }
}

struct DeclaredScreen: Sendable {
    let type: String
    let screen: String
    let arguments: [(name: String, source: ByLanguage<BindingSource>)]

    func presentation(of values: inout FieldValues, in context: CellContext) throws(ItemError) -> Presentation {
        var read: [Presentation.Argument] = []
        read.reserveCapacity(arguments.count)
        for (name, source) in arguments {
            let source = source[context.language]
            // A screen reads a choice, and not the label of it.
            let text =
                if case .text(let field) = source, field.type == .text { try values.text(field) } else {
                    try source.text(of: &values, in: context)
                }
            if let text { read.append(Presentation.Argument(name, text)) }
        }
        return Presentation(type: type, screen: screen, arguments: read)
    }
}

extension CellFactories {
    package mutating func register(
        _ kind: DeclaredKind, commands registry: CommandRegistry = .standard, hasViewers: Bool = true
    ) throws(KindError) {
        var offers: CommandRequirements = hasViewers ? .viewer : []
        if kind.screen != nil { offers.insert(.presentation) }
        if kind.destination != nil { offers.insert(.destination) }
        let plan = try Self.plan(of: kind, registry: registry, offers: offers)
        let variants = kind.declaration.variants.isEmpty ? [""] : kind.declaration.variants
        add(kind.declaration.lists, of: kind.name)
        if kind.declaration.reasonField != nil { bindReasons(of: kind.name) }
        if kind.author != nil { add([DeclaredList(.following, count: nil), DeclaredList(.muted, count: nil)], of: kind.name) }
        if kind.stream != .advertisements { for variant in variants { index(ItemType(kind: kind.name, variant: variant)) } }
        for layout in CellLayout.allCases {
            for variant in variants {
                let cells = (kind.cells[layout] ?? []).compactMap { $0.narrowed(to: variant) }
                guard let factory = DeclaredCellFactory(cells: cells, of: kind, plan: plan) else {
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
        // Each slot is validated separately, so that the error contains its name.
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
        if needs.contains(.destination) { return ": give the kind a destination, a url field" }
        if needs.contains(.presentation) { return ": give the kind a presentation with a screen" }
        return needs.contains(.viewer) ? ": viewers.header is empty" : ""
    }
}
