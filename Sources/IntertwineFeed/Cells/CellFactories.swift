/// The registered cell view model factories by item type and layout, and the format of cell ids.
///
/// A cell id consists of the prefix of the kind, a colon and the item's id, which may contain any character: `user:Tongue Twister`,
/// `ad:1`. The id of a companion is the id of the first cell, a `#` and the companion's name: `user:tt#photos`. Each layout has its own
/// factories; ids, prefixes and streams are common to all layouts.
///
/// ```swift
/// var factories = CellFactories()
/// try factories.register(NoteCellFactory(commands: commands), for: ItemType(kind: "note", variant: "plain"), prefix: "note")
/// let cell = factories.cellID(kind: "note", id: "1")  // "note:1"
/// ```
public struct CellFactories: Sendable {
    private final class Registration: Sendable {
        let factory: any CellViewModelFactory
        let prefix: String
        let isAdvertisement: Bool

        init(_ factory: any CellViewModelFactory, prefix: String, isAdvertisement: Bool) {
            (self.factory, self.prefix, self.isAdvertisement) = (factory, prefix, isAdvertisement)
        }
    }

    private struct Tables: Sendable {
        var collection: [ItemType: Registration] = [:]
        var table: [ItemType: Registration] = [:]
        var prefixes: [String: String] = [:]
        var kinds: [String: String] = [:]
        var streams: [String: StreamID] = [:]
        var advertisements: [CellLayout: [ItemType]] = [:]
        var content: Set<ItemType> = []
        var companions: [String: Set<String>] = [:]
        var advertisementLabel = FeedLanguages.none.advertisement
        var lists: [ViewerList] = []
        var counts: [String: [ViewerList: String]] = [:]
        var reasoned: Set<String> = []
    }

    /// The tables, which are complete before the first cell is made. Why: A single reference makes copies of `CellFactories` cheap.
    private final class Storage: Sendable {
        let tables: Tables

        init(_ tables: Tables) { self.tables = tables }
    }

    private var storage = Storage(Tables())
    private var tables: Tables { storage.tables }

    /// Creates an empty set of factories.
    public init() {}

    package var lists: [ViewerList] { tables.lists }

    package func counts(of kind: String) -> [ViewerList: String] { tables.counts[kind] ?? [:] }

    package var advertisementLabel: LocalizedText {
        get { tables.advertisementLabel }
        set { change { $0.advertisementLabel = newValue } }
    }

    /// True if cells of the kind bind the reason for which an item was chosen.
    func bindsReason(_ kind: String) -> Bool { storage.tables.reasoned.contains(kind) }

    mutating func bindReasons(of kind: String) { change { $0.reasoned.insert(kind) } }

    package var hasCounts: Bool { !tables.counts.isEmpty }

    mutating func add(_ lists: [DeclaredList], of kind: String) {
        guard !lists.isEmpty else { return }
        change { tables in
            for declared in lists {
                if declared.list != .saved, !tables.lists.contains(declared.list) { tables.lists.append(declared.list) }
                if let count = declared.count { tables.counts[kind, default: [:]][declared.list] = count }
            }
        }
    }

    private mutating func change(_ body: (inout Tables) -> Void) {
        var tables = tables
        body(&tables)
        storage = Storage(tables)
    }

    /// Registers a factory for an item type.
    ///
    /// ```swift
    /// let banner = ItemType(kind: "ad", variant: "banner")
    /// try factories.register(BannerCellFactory(), for: banner, prefix: "ad", stream: .advertisements)
    /// ```
    ///
    /// - Parameters:
    ///   - itemType: The item type.
    ///   - prefix: The prefix of the kind's cell ids, such as `user`. All item types of a kind share it, and no other kind uses it.
    ///   - stream: The stream of the kind's items, common to all item types of the kind.
    ///   - layout: The layout that the factory makes cells for.
    /// - Throws: ``CellFactoryError`` if the registration contradicts an earlier one, or if the prefix is empty or contains a colon.
    public mutating func register(
        _ factory: any CellViewModelFactory, for itemType: ItemType, prefix: String, stream: StreamID = .content,
        layout: CellLayout = .collection
    ) throws(CellFactoryError) {
        guard !prefix.isEmpty, !prefix.utf8.contains(UInt8(ascii: ":")) else { throw .unusablePrefix(prefix) }
        guard self[itemType, layout] == nil else { throw .registeredTwice(itemType) }
        guard (tables.prefixes[itemType.kind] ?? prefix) == prefix, (tables.kinds[prefix] ?? itemType.kind) == itemType.kind else {
            throw .prefixTaken(prefix)
        }
        guard (tables.streams[itemType.kind] ?? stream) == stream else { throw .streamConflict(itemType.kind) }
        guard factory.companions.allSatisfy(FieldDeclaration.isName) else { throw .unusableCompanions(factory.companions) }
        change { tables in
            if !factory.companions.isEmpty { tables.companions[itemType.kind, default: []].formUnion(factory.companions) }
            let registration = Registration(factory, prefix: prefix, isAdvertisement: stream == .advertisements)
            switch layout {
            case .collection: tables.collection[itemType] = registration
            case .table: tables.table[itemType] = registration
            }
            tables.prefixes[itemType.kind] = prefix
            tables.kinds[prefix] = itemType.kind
            tables.streams[itemType.kind] = stream
            if stream == .advertisements {
                tables.advertisements[layout, default: []].append(itemType)
            } else {
                tables.content.insert(itemType)
            }
        }
    }

    /// Makes an item type of content known, even if no layout shows it.
    package mutating func index(_ itemType: ItemType) {
        change { $0.content.insert(itemType) }
    }

    /// The factory of an item type in a layout; nil if none is registered.
    ///
    /// ```swift
    /// let factory = factories[ItemType(kind: "note", variant: "plain"), .table]
    /// let identifier = factory?.identifier
    /// ```
    public subscript(itemType: ItemType, layout: CellLayout = .collection) -> (any CellViewModelFactory)? {
        registration(of: itemType, in: layout)?.factory
    }

    private func registration(of itemType: ItemType, in layout: CellLayout) -> Registration? {
        switch layout {
        case .collection: storage.tables.collection[itemType]
        case .table: storage.tables.table[itemType]
        }
    }

    package var layouts: [CellLayout] {
        [(CellLayout.collection, tables.collection), (.table, tables.table)].filter { $1.keys.contains { $0.kind != SectionHeader.kind } }
            .map(\.0)
    }

    package var cells: Set<CellIdentifier> {
        Set((Array(tables.collection.values) + Array(tables.table.values)).flatMap { $0.factory.cells })
    }

    func unknownCells(of itemType: ItemType, in context: CellContext) -> [CellIdentifier]? {
        guard context.unsupportedCells != nil, let registration = registration(of: itemType, in: context.layout) else { return nil }
        if registration.isAdvertisement, !context.knows(.disclosure) { return [.disclosure] }
        let cells = registration.factory.chain
        return cells.contains(where: context.knows) ? nil : cells
    }

    package var kinds: [String] { tables.prefixes.keys.filter { $0 != SectionHeader.kind } }

    package func variants(of kinds: [any ItemKind]) -> [String: Set<String>] {
        let forms = Array(tables.collection.keys) + Array(tables.table.keys)
        let variants = kinds.map { kind in (kind.name, Set(forms.filter { $0.kind == kind.name }.map(\.variant))) }
        return Dictionary(variants) { $1 }
    }

    package func knows(_ itemType: ItemType) -> Bool {
        tables.content.contains(itemType) || tables.collection[itemType] != nil || tables.table[itemType] != nil
    }

    func isAdvertisement(_ kind: String) -> Bool { storage.tables.streams[kind] == .advertisements }

    package func isCampaignAd(_ item: FeedItem) -> Bool { !item.isHouseAd && isAdvertisement(item.kind) }

    package func kinds(in stream: StreamID) -> [String] { tables.streams.filter { $0.value == stream }.map(\.key) }

    /// Returns the item types of ads that a layout can show.
    public func advertisementForms(in layout: CellLayout) -> [ItemType] {
        tables.advertisements[layout] ?? []
    }

    /// Returns the id of an item's cell; nil if the kind has no factory.
    ///
    /// ```swift
    /// let cell = factories.cellID(kind: "user", id: "Tongue Twister")  // "user:Tongue Twister"
    /// let unknown = factories.cellID(kind: "recipe", id: "ramen")  // nil without a factory of the kind
    /// ```
    public func cellID(kind: String, id: String) -> String? {
        storage.tables.prefixes[kind].map { $0 + ":" + id }
    }

    /// Returns the item that a cell id names; nil if the prefix is unknown. The item may not exist.
    ///
    /// ```swift
    /// let item = factories.item(ofCell: "user:Tongue Twister")
    /// let id = item?.id  // "Tongue Twister"
    /// ```
    public func item(ofCell id: String) -> (kind: String, id: String)? {
        guard let colon = id.utf8.firstIndex(of: UInt8(ascii: ":")), let kind = storage.tables.kinds[String(id[..<colon])] else {
            return nil
        }
        let item = Self.first(of: id[id.utf8.index(after: colon)...], storage.tables.companions[kind])
        return item.isEmpty ? nil : (kind, String(item))
    }

    func firstCell(ofAdWithCompanions id: String) -> String? {
        guard !storage.tables.companions.isEmpty, let item = item(ofCell: id), storage.tables.companions[item.kind] != nil,
            tables.advertisements.values.contains(where: { $0.contains { $0.kind == item.kind } })
        else { return nil }
        return cellID(kind: item.kind, id: item.id)
    }

    private static func first(of id: Substring, _ companions: Set<String>?) -> Substring {
        guard let companions, let mark = id.utf8.lastIndex(of: UInt8(ascii: "#")) else { return id }
        return companions.contains(String(id[id.utf8.index(after: mark)...])) ? id[..<mark] : id
    }

    /// Makes the first cell of an item.
    ///
    /// ```swift
    /// let item = FeedItem(kind: "note", id: "1", variant: "plain", position: 1, body: Array(#"{"text":"Buy leeks"}"#.utf8))
    /// let viewModel = try factories.makeViewModel(for: item, in: context)
    /// let cell = viewModel.id  // "note:1"
    /// ```
    ///
    /// - Throws: ``CellFactoryError/noFactory(_:)``, ``CellFactoryError/ambiguousID(_:)``, ``CellFactoryError/unknownToClient(_:)``,
    ///   or the error of the factory for an item that it cannot read.
    public func makeViewModel(for item: FeedItem, in context: CellContext) throws -> CellViewModel {
        let (registration, cell) = try registration(for: item, in: context.layout)
        var viewModel = try registration.factory.makeViewModel(for: item, cell: cell, in: context)
        if registration.isAdvertisement { try disclose(&viewModel, item, in: context) }
        guard context.knows(viewModel) else { throw CellFactoryError.unknownToClient(viewModel.identifier) }
        return viewModel
    }

    /// Every cell of an ad says that it is one: by a member, and by a label that the client shows.
    private func disclose(_ viewModel: inout CellViewModel, _ item: FeedItem, in context: CellContext) throws(CellFactoryError) {
        viewModel.isAdvertisement = true
        guard context.rendersContent else { return }
        let bindings: [CellBinding]
        switch viewModel.action(in: .configuration) {
        case .bind(let bound): bindings = bound.filter { $0.part != CellIdentifier.disclosure.name }
        case nil: bindings = []
        default: throw .unlabelled(viewModel.identifier)
        }
        let label = context.disclosure?.label ?? tables.advertisementLabel[context.language]
        let advertiser = context.disclosure?.advertiser ?? CreativeInfo(item).advertiser ?? ""
        let disclosure = CellContext.Disclosure(label: label, advertiser: advertiser)
        viewModel.commands[.configuration] = BindCommand(bindings + [disclosure.binding])
    }

    /// Makes the companions of an item's first cell, in order. Most items have none.
    ///
    /// ```swift
    /// let first = try factories.makeViewModel(for: item, in: context)
    /// let companions = try factories.makeCompanions(for: item, in: context)
    /// let cells = [first] + companions
    /// ```
    ///
    /// - Throws: The errors of ``makeViewModel(for:in:)``.
    public func makeCompanions(for item: FeedItem, in context: CellContext) throws -> [CellViewModel] {
        guard !storage.tables.companions.isEmpty, storage.tables.companions[item.kind] != nil else { return [] }
        let (registration, cell) = try registration(for: item, in: context.layout)
        return try registration.factory.companions.compactMap { name in
            guard var companion = try registration.factory.makeCompanion(name, for: item, cell: "\(cell)#\(name)", in: context) else {
                return nil
            }
            if registration.isAdvertisement { try disclose(&companion, item, in: context) }
            companion.primary = cell
            return context.knows(companion) ? companion : nil
        }
    }

    private func registration(for item: FeedItem, in layout: CellLayout) throws -> (registration: Registration, cell: String) {
        let itemType = ItemType(kind: item.kind, variant: item.variant)
        guard let registration = registration(of: itemType, in: layout) else { throw CellFactoryError.noFactory(itemType) }
        if !storage.tables.companions.isEmpty, let names = storage.tables.companions[item.kind],
            Self.first(of: item.id[...], names).utf8.count != item.id.utf8.count
        {
            throw CellFactoryError.ambiguousID(item.id)
        }
        var cell = ""
        cell.reserveCapacity(registration.prefix.utf8.count + 1 + item.id.utf8.count)
        cell += registration.prefix
        cell += ":"
        cell += item.id
        return (registration, cell)
    }
}

extension CellContext {
    fileprivate func knows(_ viewModel: CellViewModel) -> Bool {
        unsupportedCells == nil
            || knows(CellIdentifier(viewModel.identifier, version: viewModel.version)) && (!viewModel.isAdvertisement || knows(.disclosure))
    }
}

/// An error in a registration, or the reason why a cell cannot be made.
public enum CellFactoryError: Error, Sendable, Hashable {
    /// No factory is registered for the item type. The item is stored and not shown in the feed.
    case noFactory(ItemType)
    /// The client supports none of the cells that can show the item. The value is the identifier of the first of them.
    case unknownToClient(String)
    /// The cell of an ad is not configured with bindings, so it cannot have the label of an ad. The value is its identifier.
    case unlabelled(String)
    /// A factory is already registered for the item type and the layout.
    case registeredTwice(ItemType)
    /// Another kind uses the prefix, or the kind already has a different prefix.
    case prefixTaken(String)
    /// The prefix is empty or contains a colon.
    case unusablePrefix(String)
    /// Item types of one kind were registered for different streams.
    case streamConflict(String)
    /// The name of a companion is invalid.
    case unusableCompanions([String])
    /// The item's id ends with the name of a companion. Its cell id would be ambiguous.
    case ambiguousID(String)
}

extension CellFactoryError: CustomStringConvertible {
    /// The error as one line for operators.
    public var description: String {
        switch self {
        case .noFactory(let itemType):
            "no factory makes a cell of \(itemType.kind)\(itemType.variant.isEmpty ? "" : " of the type \(itemType.variant)")"
        case .unknownToClient(let identifier): "the client supports neither \(identifier) nor its replacement"
        case .unlabelled(let identifier): "\(identifier) is not configured with bindings, so this ad cannot have its label"
        case .registeredTwice(let itemType):
            "two factories make cells of \(itemType.kind)\(itemType.variant.isEmpty ? "" : " of the type \(itemType.variant)")"
        case .prefixTaken(let prefix): "the prefix '\(prefix)' of cell ids belongs to another kind, or the kind has another one"
        case .unusablePrefix(let prefix): "'\(prefix)' cannot be a cell id prefix"
        case .streamConflict(let kind): "the forms of \(kind) are registered for both content and advertisements"
        case .unusableCompanions(let names):
            "companions are a letter followed by letters, digits, _ or -, 64 at most; not \(names.map { "'\(ItemError.shown($0))'" }.joined(separator: ", "))"
        case .ambiguousID(let id): "the id \(ItemError.shown(id)) ends like that of a companion"
        }
    }
}

/// A factory that knows the slots that clients report, without an item.
protocol ReportingFactory {
    var plan: CellCommands { get }
}
