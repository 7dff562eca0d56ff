internal import Foundation
internal import IntertwineFeed
internal import Synchronization

protocol CellKind: ItemKind {
    var actions: CellActions { get }
    var parts: [String: [(name: String, type: String?, isRequired: Bool)]] { get }

    func register(in factories: inout CellFactories, commands registry: CommandRegistry, hasViewers: Bool) throws
}

struct ContentKind<Content: ItemContent>: CellKind {
    var actions = CellActions()
    private let record: DeclaredFields
    private let declarations: [String: FieldDeclaration]
    private let languages: FeedLanguages
    private let samples: [(full: Cell, least: Cell)]

    init(_ type: Content.Type = Content.self) throws(ConfigurationError) {
        do {
            let recorder = FieldRecorder()
            let fields = try [FieldDeclaration](of: type, replacedBy: type.fields, recorder: recorder)
            record = try DeclaredFields(name: type.kind, variants: recorder.variants, fields: fields)
            declarations = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0) })
            languages = FeedLanguages(fields.first { !$0.languages.isEmpty }?.languages ?? [])
            samples = try (recorder.variants.isEmpty ? [nil] : recorder.variants.map { $0 }).map { variant in
                (try Self.sample(.present, variant), try Self.sample(.absent, variant))
            }
        } catch {
            throw ConfigurationError("\(type): \(error)")
        }
    }

    private static func sample(_ optionals: FieldRecorder.Optionals, _ variant: String?) throws -> Cell {
        let context = CellContext(links: Links(), tokens: CellTokens(keys: SigningKeys(current: .random())), now: 0)
        let content = try Content(from: FieldDecoder(source: FieldRecorder(optionals, variant: variant)))
        do { return try content.cell(in: context) } catch {
            throw ItemError(reason: "cell(in:) throws for sample values such as \"text\" and 1: \(error)")
        }
    }

    var name: String { record.name }
    var stream: StreamID { record.stream }
    var sortFields: [SortField] { record.sortFields }
    var fields: [ItemField]? { record.fields }

    func schema() -> [UInt8] { record.schema() }

    func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem {
        let item = try record.validate(fields)
        for language in languages.isEmpty ? [nil] : languages.all.map({ $0 }) {
            do {
                try content(id: item.id, variant: item.variant, body: item.body, in: language).validate()
            } catch {
                throw ItemError(wrapping: error)
            }
        }
        return item
    }

    func content(of item: FeedItem, in language: FeedLanguage?) throws(ItemError) -> Content {
        try content(id: item.id, variant: item.variant, body: item.body, in: language)
    }

    private func content(id: String, variant: String, body: [UInt8], in language: FeedLanguage?) throws(ItemError) -> Content {
        let source = StoredFields(
            id: id, variant: variant, fields: try ItemFields(body), declarations: declarations, language: language)
        do { return try Content(from: FieldDecoder(source: source)) } catch { throw ItemError(wrapping: error) }
    }
}

private struct StoredFields: FieldSource {
    let id: String
    let variant: String
    let fields: ItemFields
    let declarations: [String: FieldDeclaration]
    let language: FeedLanguage?

    func contains(_ field: String) -> Bool {
        guard let declaration = declarations[field] else { return field == "id" || field == "type" && !variant.isEmpty }
        return (try? declaration.value(in: fields, for: language)) != nil
    }

    func text(_ field: String, _ type: FieldType) throws(ItemError) -> String {
        guard let declaration = declarations[field] else {
            switch field {
            case "id": return id
            case "type": return variant
            default: throw ItemError(field: field, reason: "is not read for sample values, so that it is no field of the kind")
            }
        }
        guard let value = try declaration.value(in: fields, for: language) else {
            throw ItemError(field: field, reason: "is missing", code: .required)
        }
        return String(decoding: value, as: UTF8.self)
    }
}

// MARK: Cells

extension ContentKind {
    private var identifiers: [CellIdentifier] {
        (Content.cells + samples.flatMap { [$0.full.identifier, $0.least.identifier] }).reduce(into: []) { all, cell in
            if !all.contains(cell) { all.append(cell) }
        }
    }

    var parts: [String: [(name: String, type: String?, isRequired: Bool)]] {
        let cells = samples.map { sample in
            let always = Set(sample.least.bindings.filter { $0.type != nil }.map(\.part))
            return (sample.full.identifier.name, sample.full.bindings.map { ($0.part, $0.type, always.contains($0.part)) })
        }
        return Dictionary(cells) { first, _ in first }
    }

    func register(in factories: inout CellFactories, commands registry: CommandRegistry, hasViewers: Bool) throws {
        var offers: CommandRequirements = hasViewers ? .viewer : []
        if samples.allSatisfy({ $0.least.presentation != nil }) { offers.insert(.presentation) }
        if samples.allSatisfy({ $0.least.destination != nil }) { offers.insert(.destination) }
        let commands = try CellCommands(kind: name, slots: actions.slots, registry: registry, offers: offers)
        let factory = ContentCellFactory(kind: self, cells: identifiers, commands: commands)
        for variant in record.variants.isEmpty ? [""] : record.variants {
            for layout in CellLayout.allCases {
                try factories.register(factory, for: ItemType(kind: name, variant: variant), prefix: name, layout: layout)
            }
        }
    }
}

private struct ContentCellFactory<Content: ItemContent>: CellViewModelFactory {
    let kind: ContentKind<Content>
    let cells: [CellIdentifier]
    let commands: CellCommands

    var identifier: String { cells.first?.name ?? "" }

    func makeViewModel(for item: FeedItem, cell id: String, in context: CellContext) throws -> CellViewModel {
        let cell = try kind.content(of: item, in: context.language).cell(in: context)
        guard cells.contains(cell.identifier) else {
            throw ItemError(
                reason:
                    "\(Content.self) declares no cell \(cell.identifier.name) of version \(cell.identifier.version): add it to its cells")
        }
        let bindings = context.rendersContent ? cell.bindings(in: context) : []
        var viewModel = CellViewModel(
            identifier: cell.identifier.name, size: cell.size, commands: commands.filled(by: BindCommand(bindings)),
            subject: CommandSubject(
                cell: id, item: item, presentation: cell.presentation, destination: cell.destination, context: context))
        viewModel.version = cell.identifier.version
        return viewModel
    }
}

// MARK: Items

/// The kinds of the types that were used as items. Why: a generic type has no static stored properties.
private let contentKinds = Mutex<[ObjectIdentifier: any ItemKind]>([:])

extension ItemContent {
    fileprivate static var itemKind: ContentKind<Self> {
        get throws(ConfigurationError) {
            let id = ObjectIdentifier(Self.self)
            if let known = contentKinds.withLock({ $0[id] }) as? ContentKind<Self> { return known }
            let kind = try ContentKind<Self>()
            contentKinds.withLock { $0[id] = kind }
            return kind
        }
    }
}

extension ServiceExtensions {
    /// Adds a kind of item that is a `Codable` type, with its cells and actions.
    ///
    /// A type that cannot be described ends the start of the service, and imports.
    ///
    /// ```swift
    /// var extensions = ServiceExtensions()
    /// extensions.add(Card.self, actions: .on(.selection, Analytics()))
    /// ```
    ///
    /// - Parameter actions: The commands of the cells' slots; a cell without commands has no actions.
    public mutating func add<Content: ItemContent>(_ type: Content.Type, actions: CellActions = CellActions()) {
        do throws(ConfigurationError) {
            var kind = try type.itemKind
            kind.actions = actions
            kinds.append(kind)
        } catch {
            faults += error.reasons
        }
    }
}

extension FeedItem {
    /// Creates an item of a kind that is a `Codable` type, for a data source.
    ///
    /// ```swift
    /// let item = try FeedItem(Card(text: "Hello"), id: "1")
    /// let source = ArrayDataSource([item])
    /// ```
    ///
    /// - Parameters:
    ///   - id: The id, unique among the items of the kind.
    ///   - position: The position among the items of the data source.
    /// - Throws: `ItemError` if a value exceeds its limits, or the error of the value's encoding.
    public init<Content: ItemContent>(_ content: Content, id: String, position: Int64 = 0) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.rfc3339)
        }
        let line = try encoder.encode(ItemLine(content: content, kind: Content.kind, id: id))
        let item = try Content.itemKind.validate(ItemFields(Array(line)))
        self.init(kind: item.kind, id: item.id, variant: item.variant, position: position, body: item.body)
    }

    /// Decodes the item as the `Codable` type of its kind.
    ///
    /// ```swift
    /// let card = try item.decoded(as: Card.self)
    /// card.text  // "Hello"
    /// ```
    ///
    /// - Parameter language: The language of texts, such as that of a `CellContext`; nil for the first one.
    /// - Throws: `ItemError` if the item has another kind, or fields that the type does not accept.
    public func decoded<Content: ItemContent>(as type: Content.Type = Content.self, in language: FeedLanguage? = nil) throws -> Content {
        guard kind == type.kind else { throw ItemError(field: "kind", reason: "must be \(type.kind), is \(ItemError.shown(kind))") }
        return try type.itemKind.content(of: self, in: language)
    }
}

private struct ItemLine<Content: ItemContent>: Encodable {
    enum Key: String, CodingKey {
        case kind, id
    }

    let content: Content
    let kind: String
    let id: String

    func encode(to encoder: any Encoder) throws {
        try content.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(kind, forKey: .kind)
        try container.encode(id, forKey: .id)
    }
}
