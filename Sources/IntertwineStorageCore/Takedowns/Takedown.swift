/// A takedown: an operator's order that keeps an item out of the store, for every source, until it is released.
package struct Takedown: Sendable, Hashable {
    package var item: ItemKey
    /// The time of the takedown in milliseconds since 1970-01-01 UTC.
    package var at: Int64
    package var reason: String?

    /// Creates a takedown of an item at a time in milliseconds since 1970-01-01 UTC.
    package init(item: ItemKey, at: Int64, reason: String? = nil) {
        self.item = item
        self.at = at
        self.reason = reason
    }
}

package struct TakedownVersion: Sendable, Hashable {
    private let count: Int64
    private let last: Int64

    package init(count: Int64, last: Int64) {
        (self.count, self.last) = (count, last)
    }
}

/// Items that an import or a source snapshot skipped because they are taken down.
package struct BlockedItems: Sendable, Hashable, CustomStringConvertible {
    package static let namedLimit = 20

    package private(set) var count = 0
    package private(set) var items: [ItemKey] = []

    package init() {}

    package mutating func record(_ item: ItemKey) {
        count += 1
        if items.count < Self.namedLimit { items.append(item) }
    }

    package mutating func record(more: Int) {
        count += more
    }

    package mutating func add(_ others: BlockedItems) {
        count += others.count
        items += others.items.prefix(Self.namedLimit - items.count)
    }

    package var description: String {
        guard count > 0 else { return "0" }
        return "\(count) (\(items.map(\.description).joined(separator: ", "))\(count > items.count ? ", …" : ""))"
    }
}
