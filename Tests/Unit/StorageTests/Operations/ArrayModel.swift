@testable import IntertwineFeed
@testable import IntertwineStorage

/// What the operations mean, on plain arrays: one for each section.
struct ArrayModel {
    private(set) var sections: [String: [ValidatedItem]]
    /// The section of each kind.
    let homes: [String: String]

    init(homes: [String: String]) {
        self.homes = homes
        sections = Dictionary(uniqueKeysWithValues: Set(homes.values).map { ($0, []) })
    }

    /// - Returns: nil where the operation cannot be done; nothing has changed then.
    mutating func apply(_ operation: StoreOperation) -> Void? {
        switch operation {
        case .append(let item):
            guard place(of: ItemKey(item)) == nil, let home = homes[item.kind] else { return nil }
            sections[home]?.append(item)
        case .insert(let item, let place):
            guard self.place(of: ItemKey(item)) == nil, let target = index(place), target.section == homes[item.kind] else { return nil }
            sections[target.section]?.insert(item, at: target.index)
        case .move(let key, let place):
            guard key != neighbour(place), let old = self.place(of: key), let target = index(place), target.section == old.section,
                let item = sections[old.section]?.remove(at: old.index), let index = index(place)?.index
            else { return nil }
            sections[old.section]?.insert(item, at: index)
        case .update(let item):
            guard let old = place(of: ItemKey(item)) else { return nil }
            sections[old.section]?[old.index] = item
        case .remove(let key):
            guard let old = place(of: key) else { return nil }
            sections[old.section]?.remove(at: old.index)
        case .clear(let name):
            guard sections[name] != nil else { return nil }
            sections[name] = []
        }
        return ()
    }

    private func place(of key: ItemKey) -> (section: String, index: Int)? {
        for (name, items) in sections {
            if let index = items.firstIndex(where: { ItemKey($0) == key }) { return (name, index) }
        }
        return nil
    }

    private func index(_ place: StoreOperation.Position) -> (section: String, index: Int)? {
        switch place {
        case .before(let key): self.place(of: key)
        case .after(let key): self.place(of: key).map { ($0.section, $0.index + 1) }
        }
    }

    private func neighbour(_ place: StoreOperation.Position) -> ItemKey {
        switch place {
        case .before(let key), .after(let key): key
        }
    }
}
