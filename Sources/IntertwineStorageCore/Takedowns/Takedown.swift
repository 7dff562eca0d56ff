/// A takedown: an operator's order that keeps an item out of the store, for every source, until it is released.
///
/// Removal of an item through the admin API creates a takedown: `DELETE` of the item, and the operations `remove` and `clear`
/// (`SQLiteStore.takeDown`, `SQLiteStore.apply`).
/// Imports and source snapshots skip an item that is taken down, without an error, and count it as withheld.
///
/// An operator who stores the item again, by `PUT` or by the operations `append` and `insert`, ends the takedown.
///
/// A release ends it too: the item returns with the next import or the next synchronization of its source. See `SQLiteStore.release`.
///
/// ```swift
/// if let takedown = try await store.takedown(of: ItemKey(kind: "user", id: "jane")) {
///     print("\(takedown.item): \(takedown.reason ?? "no reason")")
/// }
/// ```
public struct Takedown: Sendable, Hashable {
    /// The key of the item.
    public var item: ItemKey
    /// The time of the takedown in milliseconds since 1970-01-01 UTC.
    public var at: Int64
    /// The operator's reason; nil if none was given.
    public var reason: String?

    /// Creates a takedown of an item at a time in milliseconds since 1970-01-01 UTC.
    public init(item: ItemKey, at: Int64, reason: String? = nil) {
        self.item = item
        self.at = at
        self.reason = reason
    }
}

/// The changes that a takedown made.
public struct TakedownChange: Sendable, Hashable {
    /// True if the item was stored.
    public var wasStored: Bool
    /// True if the item was not taken down before.
    public var isNew: Bool

    package init(wasStored: Bool, isNew: Bool) {
        (self.wasStored, self.isNew) = (wasStored, isNew)
    }
}

/// A version of the set of takedowns, which changes with its content.
package struct TakedownVersion: Sendable, Hashable {
    private let count: Int64
    private let last: Int64

    /// Creates a version.
    ///
    /// - Parameter last: the time of the latest takedown in milliseconds since 1970-01-01 UTC.
    package init(count: Int64, last: Int64) {
        (self.count, self.last) = (count, last)
    }
}

/// Items that an import or a source snapshot skipped because they are taken down.
public struct BlockedItems: Sendable, Hashable, CustomStringConvertible {
    /// The limit of items that are listed by key; further items are only counted.
    public static let namedLimit = 20

    /// The number of skipped items.
    public private(set) var count = 0
    /// The first skipped items, at most ``namedLimit``.
    public private(set) var items: [ItemKey] = []

    /// Creates an empty list.
    public init() {}

    package mutating func record(_ item: ItemKey) {
        count += 1
        if items.count < Self.namedLimit { items.append(item) }
    }

    /// Counts further items without listing them.
    package mutating func record(more: Int) {
        count += more
    }

    package mutating func add(_ others: BlockedItems) {
        count += others.count
        items += others.items.prefix(Self.namedLimit - items.count)
    }

    /// The number of items and their keys, such as `2 (user:tt, ad:1)`.
    public var description: String {
        guard count > 0 else { return "0" }
        return "\(count) (\(items.map(\.description).joined(separator: ", "))\(count > items.count ? ", …" : ""))"
    }
}
