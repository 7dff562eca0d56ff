/// An operator's word that an item stays away until it is released, from whatever source it comes.
///
/// Removing an item by the operators' API makes one: `DELETE` of the item, and the operations `remove` and `clear`
/// (``SQLiteStore/takeDown(_:reason:at:unless:)``, ``SQLiteStore/apply(_:reason:at:unless:)``). Imports and the snapshots of sources leave
/// such an item out, without an error, and count it as withheld. What an operator puts there item by item, by `PUT` and by the operations
/// `append` and `insert`, is an operator's newer word: it ends the takedown. ``SQLiteStore/release(_:)`` ends it too: the item comes back
/// with the next import, or the next time its source is asked.
public struct Takedown: Sendable, Hashable {
    public var item: ItemKey
    /// Milliseconds since 1970-01-01 UTC.
    public var at: Int64
    /// In the operator's words, where there were any.
    public var reason: String?

    public init(item: ItemKey, at: Int64, reason: String? = nil) {
        self.item = item
        self.at = at
        self.reason = reason
    }
}

/// What an import or a snapshot brought, and was left out because it was taken down.
public struct Withheld: Sendable, Hashable, CustomStringConvertible {
    /// How many are named; the rest is counted.
    public static let namedLimit = 20

    public private(set) var count = 0
    /// The first of them.
    public private(set) var items: [ItemKey] = []

    public init() {}

    mutating func note(_ item: ItemKey) {
        count += 1
        if items.count < Self.namedLimit { items.append(item) }
    }

    mutating func add(_ others: Withheld) {
        count += others.count
        items += others.items.prefix(Self.namedLimit - items.count)
    }

    /// `2 (user:tt, ad:1)`.
    public var description: String {
        guard count > 0 else { return "0" }
        return "\(count) (\(items.map(\.description).joined(separator: ", "))\(count > items.count ? ", …" : ""))"
    }
}
