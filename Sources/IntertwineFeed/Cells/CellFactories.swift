/// Which factory makes the cell for which form of item, and how cell ids are spelled.
///
/// A cell id is a prefix for the kind, a colon, and the item's id, which may hold any character: `user:Tongue Twister`, `ad:1`.
/// That of a companion is the first cell's, a `#` and the companion's name: `user:tt#photos`.
/// Each layout has factories of its own; ids, prefixes and lanes are the same in all of them.
public struct CellFactories: Sendable {
    /// What shows a form, and the prefix of its cells' ids.
    private final class Registration: Sendable {
        let factory: any CellViewModelFactory
        let prefix: String

        init(_ factory: any CellViewModelFactory, prefix: String) { (self.factory, self.prefix) = (factory, prefix) }
    }

    private struct Tables: Sendable {
        var collection: [ItemType: Registration] = [:]
        var table: [ItemType: Registration] = [:]
        var prefixes: [String: String] = [:]
        var kinds: [String: String] = [:]
        var streams: [String: StreamID] = [:]
        var advertisements: [CellLayout: [ItemType]] = [:]
        /// All that are known, whether or not a layout shows them.
        var content: Set<ItemType> = []
        /// The names of companions, by kind.
        var companions: [String: Set<String>] = [:]
    }

    /// Complete before the first cell is made. One reference, as each reader of cells has all of it.
    private final class Storage: Sendable {
        let tables: Tables

        init(_ tables: Tables) { self.tables = tables }
    }

    private var storage = Storage(Tables())
    private var tables: Tables { storage.tables }

    public init() {}

    private mutating func change(_ body: (inout Tables) -> Void) {
        var tables = tables
        body(&tables)
        storage = Storage(tables)
    }

    /// - Parameters:
    ///   - prefix: of the cell ids of the form's kind, such as `user`. All forms of a kind share it, and no other kind has it.
    ///   - lane: where items of the kind stand; the same for all forms of a kind.
    /// - Throws: ``CellFactoryError`` where the registration contradicts an earlier one, or the prefix is empty or holds a colon.
    public mutating func register(
        _ factory: any CellViewModelFactory, for form: ItemType, prefix: String, stream: StreamID = .content,
        layout: CellLayout = .collection
    ) throws(CellFactoryError) {
        guard !prefix.isEmpty, !prefix.utf8.contains(UInt8(ascii: ":")) else { throw .unusablePrefix(prefix) }
        guard self[form, layout] == nil else { throw .registeredTwice(form) }
        guard (tables.prefixes[form.kind] ?? prefix) == prefix, (tables.kinds[prefix] ?? form.kind) == form.kind else {
            throw .prefixTaken(prefix)
        }
        guard (tables.streams[form.kind] ?? stream) == stream else { throw .streamConflict(form.kind) }
        guard factory.companions.allSatisfy(KindCompiler.isName) else { throw .unusableCompanions(factory.companions) }
        change { tables in
            if !factory.companions.isEmpty { tables.companions[form.kind, default: []].formUnion(factory.companions) }
            let registration = Registration(factory, prefix: prefix)
            switch layout {
            case .collection: tables.collection[form] = registration
            case .table: tables.table[form] = registration
            }
            tables.prefixes[form.kind] = prefix
            tables.kinds[prefix] = form.kind
            tables.streams[form.kind] = stream
            if stream == .advertisements { tables.advertisements[layout, default: []].append(form) } else { tables.content.insert(form) }
        }
    }

    /// Makes a form of content known that may not be shown in any layout.
    mutating func index(_ form: ItemType) {
        change { $0.content.insert(form) }
    }

    /// The forms of content that are known and that a layout does not show.
    func unshownForms(in layout: CellLayout) -> Set<ItemType> {
        tables.content.filter { self[$0, layout] == nil }
    }

    public subscript(form: ItemType, layout: CellLayout = .collection) -> (any CellViewModelFactory)? {
        registration(of: form, in: layout)?.factory
    }

    private func registration(of form: ItemType, in layout: CellLayout) -> Registration? {
        switch layout {
        case .collection: storage.tables.collection[form]
        case .table: storage.tables.table[form]
        }
    }

    /// The layouts that something has cells for, besides the headers of sections.
    package var layouts: [CellLayout] {
        [(CellLayout.collection, tables.collection), (.table, tables.table)].filter { $1.keys.contains { $0.kind != SectionHeader.kind } }
            .map(\.0)
    }

    /// All cells that may be made.
    package var cells: Set<CellIdentifier> {
        Set((Array(tables.collection.values) + Array(tables.table.values)).flatMap { $0.factory.cells })
    }

    /// The first cells of a form, of which the client knows none; nil where it knows one, or there is none to know.
    func unknownCells(of form: ItemType, in context: CellContext) -> [CellIdentifier]? {
        guard context.lacking != nil, let cells = self[form, context.layout]?.chain, !cells.contains(where: context.knows) else {
            return nil
        }
        return cells
    }

    package func kinds(in lane: StreamID) -> [String] { tables.streams.filter { $0.value == lane }.map(\.key) }

    /// The forms of advertisements that a layout can show.
    public func advertisementForms(in layout: CellLayout) -> [ItemType] {
        tables.advertisements[layout] ?? []
    }

    /// The id of an item's cell, or nil where its kind has no factory.
    public func cellID(kind: String, id: String) -> String? {
        storage.tables.prefixes[kind].map { $0 + ":" + id }
    }

    /// Which item a cell id names, or nil where its prefix is unknown. Whether the item exists is not known here.
    public func item(ofCell id: String) -> (kind: String, id: String)? {
        guard let colon = id.utf8.firstIndex(of: UInt8(ascii: ":")), let kind = storage.tables.kinds[String(id[..<colon])] else {
            return nil
        }
        let item = Self.first(of: id[id.utf8.index(after: colon)...], storage.tables.companions[kind])
        return item.isEmpty ? nil : (kind, String(item))
    }

    /// An id without the name of a companion.
    private static func first(of id: Substring, _ companions: Set<String>?) -> Substring {
        guard let companions, let mark = id.utf8.lastIndex(of: UInt8(ascii: "#")) else { return id }
        return companions.contains(String(id[id.utf8.index(after: mark)...])) ? id[..<mark] : id
    }

    /// The first cell of an item.
    ///
    /// - Throws: ``CellFactoryError/noFactory(_:)``, ``CellFactoryError/ambiguousID(_:)``, or what the factory throws for an item that it
    ///   cannot read.
    public func makeViewModel(for item: FeedItem, in context: CellContext) throws -> CellViewModel {
        let (registration, cell) = try registration(for: item, in: context.layout)
        var viewModel = try registration.factory.makeViewModel(for: item, cell: cell, in: context)
        guard context.knows(viewModel) else { throw CellFactoryError.unknownToClient(viewModel.identifier) }
        let missing = context.missingTypes(of: viewModel)
        guard missing.isEmpty else { throw CellFactoryError.unknownTypes(missing, in: viewModel.identifier) }
        if let disclosure = context.disclosure, let command = viewModel.commands[.configuration] as? BindCommand {
            viewModel.commands[.configuration] = BindCommand(command.bindings + [disclosure.binding])
        }
        return viewModel
    }

    /// The companions of an item's first cell, in order; most items have none.
    ///
    /// - Throws: as ``makeViewModel(for:in:)`` does.
    public func makeCompanions(for item: FeedItem, in context: CellContext) throws -> [CellViewModel] {
        guard !storage.tables.companions.isEmpty, storage.tables.companions[item.kind] != nil else { return [] }
        let (registration, cell) = try registration(for: item, in: context.layout)
        return try registration.factory.companions.compactMap { name in
            try registration.factory.makeCompanion(name, for: item, cell: "\(cell)#\(name)", in: context).flatMap {
                context.knows($0) && context.missingTypes(of: $0).isEmpty ? $0 : nil
            }
        }
    }

    private func registration(for item: FeedItem, in layout: CellLayout) throws -> (registration: Registration, cell: String) {
        let form = ItemType(kind: item.kind, variant: item.variant)
        guard let registration = registration(of: form, in: layout) else { throw CellFactoryError.noFactory(form) }
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
        lacking == nil || knows(CellIdentifier(viewModel.identifier, version: viewModel.version))
    }

    /// The types of its bindings and actions that the client does not know.
    fileprivate func missingTypes(of viewModel: CellViewModel) -> [String] { lacking?.types.missing(in: viewModel) ?? [] }
}

extension CellFactories {
    /// The view models of cells by their ids, in the context's layout; those that are unknown, gone or broken are missing.
    ///
    /// - Throws: what the snapshot throws.
    func viewModels(
        of cells: some Sequence<ByteString>, in snapshot: any FeedSnapshot, context: CellContext
    ) throws -> [ByteString: CellViewModel] {
        try viewModels(of: cells, in: snapshot) { try makeViewModel(of: $1, for: $0, in: context) }
    }

    /// The same for performing what people do with the cells, whichever layout they see.
    ///
    /// - Throws: what the snapshot throws.
    func actingViewModels(
        of cells: some Sequence<ByteString>, in snapshot: any FeedSnapshot, context: CellContext
    ) throws -> [ByteString: CellViewModel] {
        try viewModels(of: cells, in: snapshot) { try makeActingViewModel(of: $1, for: $0, in: context) }
    }

    /// The view model by which a cell's actions are performed: that of the collection, or where there is none, that of the table.
    ///
    /// - Throws: as ``makeViewModel(for:in:)`` does.
    func makeActingViewModel(of cell: String, for item: FeedItem, in context: CellContext) throws -> CellViewModel {
        var context = context
        context.rendersContent = false
        var viewModel: CellViewModel
        do {
            context.layout = .collection
            viewModel = try makeViewModel(of: cell, for: item, in: context)
        } catch CellFactoryError.noFactory {
            context.layout = .table
            viewModel = try makeViewModel(of: cell, for: item, in: context)
        }
        if advertisementForms(in: context.layout).contains(ItemType(kind: item.kind, variant: item.variant)) {
            viewModel.subject.creative = CreativeInfo(item)
        }
        return viewModel
    }

    /// One of an item's cells.
    private func makeViewModel(of cell: String, for item: FeedItem, in context: CellContext) throws -> CellViewModel {
        let first = try makeViewModel(for: item, in: context)
        if first.id.utf8.elementsEqual(cell.utf8) { return first }
        guard let companion = try makeCompanions(for: item, in: context).first(where: { $0.id.utf8.elementsEqual(cell.utf8) }) else {
            throw CellFactoryError.noFactory(ItemType(kind: item.kind, variant: item.variant))
        }
        return companion
    }

    private func viewModels(
        of cells: some Sequence<ByteString>, in snapshot: any FeedSnapshot, make: (FeedItem, String) throws -> CellViewModel
    ) throws -> [ByteString: CellViewModel] {
        var viewModels: [ByteString: CellViewModel] = [:]
        for cell in cells {
            guard let name = item(ofCell: cell.text), let item = try snapshot.item(kind: name.kind, id: name.id) else { continue }
            viewModels[cell] = try? make(item, cell.text)
        }
        return viewModels
    }
}

/// Why a factory cannot be registered, or no cell can be made.
public enum CellFactoryError: Error, Sendable, Hashable {
    /// Nothing is registered for this form of item: it is stored, and stays out of the feed.
    case noFactory(ItemType)
    /// The client knows none of the cells that can show the item: the name of the first of them.
    case unknownToClient(String)
    /// The client does not know these types of bindings and actions, which the cell has.
    case unknownTypes([String], in: String)
    case registeredTwice(ItemType)
    /// Another kind has this prefix, or the kind has another one.
    case prefixTaken(String)
    /// The prefix is empty or holds a colon.
    case unusablePrefix(String)
    /// Forms of one kind were registered for both lanes.
    case streamConflict(String)
    /// The name of a companion is no name.
    case unusableCompanions([String])
    /// The item's id ends like the id of a companion: its cell could not be told from another item's.
    case ambiguousID(String)
}

extension CellFactoryError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noFactory(let form): "no cell is made of \(form.kind)\(form.variant.isEmpty ? "" : " of the type \(form.variant)")"
        case .unknownToClient(let identifier): "the client knows neither \(identifier) nor what stands in for it"
        case .unknownTypes(let types, let identifier): "the client does not know \(types.joined(separator: ", ")), which \(identifier) has"
        case .registeredTwice(let form):
            "two factories make cells of \(form.kind)\(form.variant.isEmpty ? "" : " of the type \(form.variant)")"
        case .prefixTaken(let prefix): "the prefix '\(prefix)' of cell ids belongs to another kind, or the kind has another one"
        case .unusablePrefix(let prefix): "'\(prefix)' cannot be a cell id prefix"
        case .streamConflict(let kind): "the forms of \(kind) are registered for both content and advertisements"
        case .unusableCompanions(let names):
            "companions are a letter followed by letters, digits, _ or -, 64 at most; not \(names.map { "'\(ItemError.shown($0))'" }.joined(separator: ", "))"
        case .ambiguousID(let id): "the id \(ItemError.shown(id)) ends like that of a companion"
        }
    }
}
