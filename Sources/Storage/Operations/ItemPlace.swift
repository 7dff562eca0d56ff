/// A place among the items of a section, as one of them sees it. Where a section is read in the order of a field, it tells only where an item
/// stands among those that have the same value.
public enum ItemPlace: Sendable, Hashable {
    case before(ItemKey)
    case after(ItemKey)

    var neighbour: ItemKey {
        switch self {
        case .before(let key), .after(let key): key
        }
    }
}
