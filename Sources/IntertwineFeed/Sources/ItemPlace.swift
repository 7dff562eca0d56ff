/// Where an item stands in the order of its section: by its key, where a field orders the section, and among equal keys by its position.
public struct ItemPlace: Sendable, Hashable, Comparable {
    /// Nil where positions alone order the section.
    public var key: SortKey?
    public var position: Int64

    public init(key: SortKey? = nil, position: Int64) {
        self.key = key
        self.position = position
    }

    public static func < (first: ItemPlace, second: ItemPlace) -> Bool {
        guard first.key != second.key else { return first.position < second.position }
        guard let key = second.key else { return false }
        return first.key.map { $0 < key } ?? true
    }

    /// The nearest place after it or, with a negative step, before it.
    func moved(by step: Int64) -> ItemPlace {
        let (position, overflow) = position.addingReportingOverflow(step)
        return overflow ? self : ItemPlace(key: key, position: position)
    }
}

extension FeedItem {
    public var place: ItemPlace { ItemPlace(key: sortKey, position: position) }
}
