/// Which factory makes the cell for which form of item, and how cell ids are spelled.
///
/// A cell id is a prefix for the kind, a colon, and the item's id, which may hold any character: `user:Tongue Twister`, `ad:1`.
/// Each layout has factories of its own; ids, prefixes and lanes are the same in all of them.
public struct CellFactories: Sendable {
    private var collection: [ItemForm: any CellViewModelFactory] = [:]
    private var table: [ItemForm: any CellViewModelFactory] = [:]
    private var prefixes: [String: String] = [:]
    private var kinds: [String: String] = [:]
    private var lanes: [String: Lane] = [:]
    private var advertisements: [CellLayout: [ItemForm]] = [:]
    /// All that are known, whether or not a layout shows them.
    private var content: Set<ItemForm> = []

    public init() {}

    /// - Parameters:
    ///   - prefix: of the cell ids of the form's kind, such as `user`. All forms of a kind share it, and no other kind has it.
    ///   - lane: where items of the kind stand; the same for all forms of a kind.
    /// - Throws: ``CellFactoryError`` where the registration contradicts an earlier one, or the prefix is empty or holds a colon.
    public mutating func register(
        _ factory: any CellViewModelFactory, for form: ItemForm, prefix: String, lane: Lane = .content, layout: CellLayout = .collection
    ) throws(CellFactoryError) {
        guard !prefix.isEmpty, !prefix.utf8.contains(UInt8(ascii: ":")) else { throw .unusablePrefix(prefix) }
        guard self[form, layout] == nil else { throw .registeredTwice(form) }
        guard (prefixes[form.kind] ?? prefix) == prefix, (kinds[prefix] ?? form.kind) == form.kind else { throw .prefixTaken(prefix) }
        guard (lanes[form.kind] ?? lane) == lane else { throw .laneContradicted(form.kind) }
        switch layout {
        case .collection: collection[form] = factory
        case .table: table[form] = factory
        }
        prefixes[form.kind] = prefix
        kinds[prefix] = form.kind
        lanes[form.kind] = lane
        if lane == .advertisements { advertisements[layout, default: []].append(form) } else { note(form) }
    }

    /// Makes a form of content known that may not be shown in any layout.
    mutating func note(_ form: ItemForm) {
        content.insert(form)
    }

    /// The forms of content that are known and that a layout does not show.
    func unshownForms(in layout: CellLayout) -> Set<ItemForm> {
        content.filter { self[$0, layout] == nil }
    }

    public subscript(form: ItemForm, layout: CellLayout = .collection) -> (any CellViewModelFactory)? {
        switch layout {
        case .collection: collection[form]
        case .table: table[form]
        }
    }

    /// The forms of advertisements that a layout can show.
    public func advertisementForms(in layout: CellLayout) -> [ItemForm] {
        advertisements[layout] ?? []
    }

    /// The id of an item's cell, or nil where its kind has no factory.
    public func cellID(kind: String, id: String) -> String? {
        prefixes[kind].map { $0 + ":" + id }
    }

    /// Which item a cell id names, or nil where its prefix is unknown. Whether the item exists is not known here.
    public func item(ofCell id: String) -> (kind: String, id: String)? {
        guard let colon = id.utf8.firstIndex(of: UInt8(ascii: ":")), let kind = kinds[String(id[..<colon])] else { return nil }
        let item = id[id.utf8.index(after: colon)...]
        return item.isEmpty ? nil : (kind, String(item))
    }

    /// - Throws: ``CellFactoryError/noFactory(_:)``, or what the factory throws for an item that it cannot read.
    public func makeViewModel(for item: FeedItem, in context: CellContext) throws -> CellViewModel {
        let form = ItemForm(kind: item.kind, variant: item.variant)
        guard let factory = self[form, context.layout], let prefix = prefixes[item.kind] else { throw CellFactoryError.noFactory(form) }
        return try factory.makeViewModel(for: item, cell: prefix + ":" + item.id, in: context)
    }
}
