public import IntertwineFeed

/// One change of the store, as those who manage its data think of it. Several are done together: see ``SQLiteStore/apply(_:reason:at:unless:)``.
///
/// Other than an import, an operation says whether the item is to be there: nothing is replaced by accident, or made by a slip.
public enum StoreOperation: Sendable, Hashable {
    /// A place among the items of a section, as one of them sees it and as the section is shown (`SectionPlan.order`). Where it is shown in
    /// the order of a field, it tells only where an inserted item stands among those that have the same value.
    public enum Place: Sendable, Hashable {
        case before(ItemKey)
        case after(ItemKey)

        var neighbour: ItemKey {
            switch self {
            case .before(let key), .after(let key): key
            }
        }
    }

    /// Puts an item that is not there at the end of its section as imports do, which is the top of one that is shown newest first.
    case append(ValidItem)
    /// Puts an item that is not there next to another one of its section.
    case insert(ValidItem, Place)
    /// Puts an item that is there next to another one of its section, which must not be ordered by a field.
    case move(ItemKey, Place)
    /// Replaces an item that is there, in its place.
    case update(ValidItem)
    /// Removes an item that is there, and takes it down (``Takedown``).
    case remove(ItemKey)
    /// Removes all items of a section, which may be empty, and takes them down: ``advertisements`` for those, `SectionPlan.mainName` for what no section takes.
    case clear(section: String)

    /// What the advertisements' lane is called where a section is named. A section of that name goes before.
    public static let advertisements = "advertisements"

    /// The item that the operation changes; nil where it is about a section.
    public var key: ItemKey? {
        switch self {
        case .append(let item), .insert(let item, _), .update(let item): ItemKey(item)
        case .move(let key, _), .remove(let key): key
        case .clear: nil
        }
    }

    /// The item that the operation changes, where it is one that must be there.
    var subject: ItemKey? {
        switch self {
        case .append, .insert, .clear: nil
        case .move(let key, _), .remove(let key): key
        case .update(let item): ItemKey(item)
        }
    }
}
