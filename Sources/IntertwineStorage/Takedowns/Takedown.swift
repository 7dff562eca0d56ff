import GRDB
public import IntertwineFeed

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

/// Tells takedowns from those of another moment.
package struct TakedownVersion: Sendable, Hashable {
    private let count: Int64
    private let last: Int64

    /// - Parameter last: when the last one was, in milliseconds since 1970-01-01 UTC.
    package init(count: Int64, last: Int64) {
        (self.count, self.last) = (count, last)
    }
}

/// What an import or a snapshot brought, and was left out because it was taken down.
public struct BlockedItems: Sendable, Hashable, CustomStringConvertible {
    /// How many are named; the rest is counted.
    public static let namedLimit = 20

    public private(set) var count = 0
    /// The first of them.
    public private(set) var items: [ItemKey] = []

    public init() {}

    package mutating func record(_ item: ItemKey) {
        count += 1
        if items.count < Self.namedLimit { items.append(item) }
    }

    /// Items that are counted and not named.
    package mutating func record(more: Int) {
        count += more
    }

    mutating func add(_ others: BlockedItems) {
        count += others.count
        items += others.items.prefix(Self.namedLimit - items.count)
    }

    /// `2 (user:tt, ad:1)`.
    public var description: String {
        guard count > 0 else { return "0" }
        return "\(count) (\(items.map(\.description).joined(separator: ", "))\(count > items.count ? ", …" : ""))"
    }
}

extension SQLiteStore {
    /// Removes an item and keeps it away until it is released; see ``Takedown``. One that is not there is kept away all the same.
    ///
    /// - Parameters:
    ///   - moment: milliseconds since 1970-01-01 UTC.
    ///   - refuse: given the item as it is, or nil; throws where it must not be taken down. In the same transaction: nobody can change the
    ///     item in between.
    /// - Returns: whether the item was there.
    /// - Throws: what `refuse` throws; `StoreError.unavailable`.
    public func takeDown(
        _ key: ItemKey, reason: String? = nil, at moment: Int64 = SQLiteLedger.systemTime(),
        unless refuse: @escaping @Sendable (FeedItem?) throws -> Void = { _ in }
    ) async throws -> Bool {
        try await write { database in
            try refuse(SQLiteSnapshot(database: database).item(kind: key.kind, id: key.id))
            try TakedownTable(database).add(Takedown(item: key, at: moment, reason: reason))
            return try ItemWriter(database).remove(kind: key.kind, id: key.id)
        }
    }

    /// Ends takedowns, and releases advertisements from the campaigns that they belong to. Items that were taken down come back when somebody
    /// brings them. With a campaign, all advertisements that belong to it are released.
    ///
    /// - Returns: how many of them had been taken down, or belonged to a campaign.
    /// - Throws: `StoreError.unavailable`
    public func release(_ keys: [ItemKey]) async throws -> Int {
        try await write { database in
            let takedowns = try TakedownTable(database)
            let memberships = try MembershipTable(database)
            return try keys.count { key in
                let hadMemberships = try memberships.remove(key)
                return try takedowns.remove(key) || hadMemberships
            }
        }
    }

    /// The takedown of an item; nil where there is none.
    ///
    /// - Throws: `StoreError.unavailable`
    public func takedown(of key: ItemKey) async throws -> Takedown? {
        try await reading(for: .background) { try TakedownTable($0).takedown(of: key) }
    }

    /// URLs that stood in the fields of items that are taken down.
    package func takenDownURLs() async throws -> [String] {
        try await reading(for: .background) { database in
            let statement = try SQLStatement(database, "SELECT urls FROM takedown WHERE kind >= '' AND urls IS NOT NULL LIMIT ?1")
            defer { statement.reset() }
            try statement.bind(1, Int64(Self.takenDownLimit))
            var urls: [String] = []
            while try statement.step() { urls += Self.urls(ofTakedown: statement.text(0)) }
            return urls
        }
    }

    package func takedownVersion() async throws -> TakedownVersion {
        try await reading(for: .background) { database in
            let statement = try SQLStatement(database, "SELECT count(*), max(at) FROM takedown WHERE kind >= ''")
            defer { statement.reset() }
            return try statement.step()
                ? TakedownVersion(count: statement.integer(0), last: statement.integer(1)) : TakedownVersion(count: 0, last: 0)
        }
    }

    /// At most `limit` takedowns, in the order of kind and id, beginning behind one.
    ///
    /// - Throws: `StoreError.unavailable`
    public func takedowns(after key: ItemKey? = nil, limit: Int) async throws -> [Takedown] {
        try await reading(for: .background) { database in
            let statement = try SQLStatement(
                database,
                "SELECT kind, id, at, reason FROM takedown WHERE (kind, id) > (?1, ?2) ORDER BY kind, id LIMIT ?3")
            defer { statement.reset() }
            try statement.bind(1, key?.kind ?? "")
            try statement.bind(2, key?.id ?? "")
            try statement.bind(3, Int64(max(limit, 0)))
            var takedowns: [Takedown] = []
            while try statement.step() {
                takedowns.append(
                    Takedown(
                        item: ItemKey(kind: statement.text(0), id: statement.text(1)), at: statement.integer(2),
                        reason: statement.optionalText(3)))
            }
            return takedowns
        }
    }
}
