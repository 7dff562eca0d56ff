package import IntertwineFeed
internal import IntertwinePrimitives

package protocol ItemStore: FeedStore {
    associatedtype Session: SQLSession & StoreSnapshot

    var orders: [StreamID: SectionSort] { get nonmutating set }

    func reading<Value: Sendable>(for purpose: ReadPurpose, _ body: @escaping @Sendable (Session) throws -> Value) async throws -> Value

    func reading<Value>(_ body: (Session) throws -> Value) throws -> Value

    func writing<Value: Sendable>(_ body: @escaping @Sendable (Session) throws -> (Value, InPlaceUpdate?)) async throws -> Value

    func arranging<Value>(_ body: (Session) throws -> Value) throws -> Value

    /// True if this process knows that the index of items exists, which its writes then bring up to date.
    var isIndexed: Bool { get }

    func createIndex() async throws

    var readStatistics: ReadStatistics { get }

    /// Call it periodically, by one caller at a time; it blocks.
    func storageChange() -> FileChange?

    /// Completes the files when the process ends, so that a copy of them contains all data.
    func completeFile() async throws
}

extension ItemStore {
    /// Appends an item to its stream, or replaces the item with its kind and id in place, unless `refuse` rejects the change. Both run in
    /// one transaction, so the stored item cannot change in between.
    package func put(
        _ item: ValidatedItem, releasing: Bool = true, unless refuse: @escaping @Sendable (FeedItem?) throws -> Void = { _ in }
    ) async throws -> ItemChange {
        let (author, moment, isIndexed) = (ItemRevision.author, WallClock.now(), isIndexed)
        return try await writing { session in
            let old = try session.storedItem(kind: item.kind, id: item.id)
            try refuse(old)
            if old != nil { try RevisionTable(session, by: author).keep(ItemKey(item), before: item, .edit, at: moment) }
            let (change, stream) = try StoredItemTable(session, releasing: releasing).put(item)
            let isScheduled = item.isScheduled || old.map { ItemSchedule.isIn($0.body) } ?? false
            if isScheduled { try PublicItems.settle(session) }
            if isIndexed { _ = try ItemIndex(session).update(limit: Self.own) }
            guard let stream, let old, old.variant == item.variant, !isScheduled else { return (change, nil) }
            return (change, InPlaceUpdate(kind: item.kind, stream: stream, position: old.position))
        }
    }

    package func remove(kind: String, id: String) async throws -> Bool {
        try await writing { (try StoredItemTable($0).delete(ItemKey(kind: kind, id: id)), nil) }
    }

    /// It runs in the transaction, so the item cannot change in between.
    package func apply(
        _ operations: [StoreOperation], reason: String? = nil, at moment: Int64 = WallClock.now(), releasing: Bool = true,
        unless refuse: @escaping @Sendable (_ index: Int, _ item: FeedItem) throws -> Void = { _, _ in }
    ) async throws -> StoreOperationSummary {
        guard operations.count <= StoreOperation.limit else {
            throw StoreOperationError(index: StoreOperation.limit, reason: .tooMany)
        }
        guard !operations.isEmpty else { return StoreOperationSummary() }
        let (orders, author, isIndexed) = (orders, ItemRevision.author, isIndexed)
        return try await writing { session in
            var writer = OperationWriter(
                try StoredItemTable(session, releasing: releasing, author: author), orders: orders, reason: reason, at: moment)
            let summary = try writer.apply(operations, in: session, unless: refuse)
            try PublicItems.settle(session)
            if isIndexed { _ = try ItemIndex(session).update(limit: Self.own) }
            return (summary, nil)
        }
    }

    /// Replaces the items that exist by the results of `patch`, in one transaction. If a key occurs twice, the second patch gets the first result.
    package func patch(
        _ keys: [ItemKey], by patch: @escaping @Sendable (_ index: Int, _ item: FeedItem) throws -> ValidatedItem
    ) async throws -> ItemPatchSummary {
        guard !keys.isEmpty else { return ItemPatchSummary() }
        return try await writing { session in
            let table = try StoredItemTable(session)
            var (summary, isScheduled) = (ItemPatchSummary(), false)
            for start in stride(from: 0, to: keys.count, by: ItemPatchSummary.batch) {
                let range = start..<min(keys.count, start + ItemPatchSummary.batch)
                var items = try table.items(Array(keys[range]))
                var changed: [ItemKey: ValidatedItem] = [:]
                for index in range {
                    guard let item = items[keys[index]] else {
                        summary.unknown += 1
                        continue
                    }
                    let patched = try patch(index, item)
                    guard patched.body != item.body || patched.variant != item.variant else {
                        summary.unchanged += 1
                        continue
                    }
                    summary.updated += 1
                    isScheduled = isScheduled || patched.isScheduled || ItemSchedule.isIn(item.body)
                    changed[keys[index]] = patched
                    items[keys[index]]?.body = patched.body
                    items[keys[index]]?.variant = patched.variant
                }
                try table.update(Array(changed.values))
            }
            if isScheduled { try PublicItems.settle(session) }
            return (summary, nil)
        }
    }

    // MARK: Takedowns

    /// It runs in the transaction of the takedown, so the item cannot change in between.
    package func takeDown(
        _ key: ItemKey, reason: String? = nil, at moment: Int64 = WallClock.now(),
        unless refuse: @escaping @Sendable (FeedItem?) throws -> Void = { _ in }
    ) async throws -> TakedownChange {
        let (author, isIndexed) = (ItemRevision.author, isIndexed)
        return try await writing { session in
            try refuse(session.storedItem(kind: key.kind, id: key.id))
            let change = try StoredItemTable(session, author: author).remove(Takedown(item: key, at: moment, reason: reason))
            if isIndexed { _ = try ItemIndex(session).update(limit: Self.own) }
            return (change, nil)
        }
    }

    package func release(_ keys: [ItemKey]) async throws -> Int {
        let isIndexed = isIndexed
        return try await writing { session in
            let count = try TakedownTable(session).release(keys)
            if isIndexed { _ = try ItemIndex(session).update(limit: Self.own) }
            return (count, nil)
        }
    }

    // MARK: Lists for operators

    /// The number of entries that a write brings up to date.
    private static var own: Int { 100 }

    /// Creates the index of ``items(_:)`` unless it exists, and brings up to `limit` of its entries up to date. Returns their number.
    package func updateIndex(limit: Int) async throws -> Int {
        if !isIndexed { try await createIndex() }
        guard try await reading(for: .background, { try ItemIndex($0).backlog(limit: 1) }) > 0 else { return 0 }
        return try await writing { (try ItemIndex($0).update(limit: limit), nil) }
    }

    /// Returns items of the index, which must exist. A query without an anchor has a `total`, the number of all that are found, if it is below
    /// ``ItemListQuery/searchLimit``. `isComplete` is false while changed items have entries that are out of date.
    package func items(_ query: ItemListQuery) async throws -> (items: [ListedItem], total: Int?, sections: [String], isComplete: Bool) {
        try await reading(for: .background) { session in
            let index = ItemIndex(session)
            let sections = try SectionLayout(session).streams.keys.sorted() + [StoreOperation.advertisements]
            let (items, found) = try index.list(query)
            guard query.anchor == nil else { return (items, nil, sections, try index.backlog(limit: 1) == 0) }
            // A query of no items finds none.
            let total = items.count < max(1, query.limit) ? items.count : try found ?? index.count(query)
            return (items, total < ItemListQuery.searchLimit ? total : nil, sections, try index.backlog(limit: 1) == 0)
        }
    }

    package func revisions(of key: ItemKey) async throws -> [ItemRevision] {
        try await reading(for: .background) { try RevisionTable($0, by: "").list(key) }
    }

    package func takedown(of key: ItemKey) async throws -> Takedown? {
        try await reading(for: .background) { try TakedownTable($0).takedown(of: key) }
    }

    package func takenDownURLs() async throws -> [String] {
        try await reading(for: .background) { try TakedownTable($0).urls(limit: ItemLinks.takedownLimit) }
    }

    package func takedownVersion() async throws -> TakedownVersion {
        try await reading(for: .background) { try TakedownTable($0).version() }
    }

    package func takedowns(after key: ItemKey?, limit: Int) async throws -> [Takedown] {
        try await reading(for: .background) { try TakedownTable($0).list(after: key, limit: limit) }
    }

    // MARK: Schedules

    /// Shows and hides the items whose times the database's clock has reached, in one transaction, of whichever process is first.
    package func settle() async throws -> ScheduleState {
        let state = try await reading(for: .background) { try PublicItems.state($0) }
        guard let next = state.next, next <= state.now else { return state }
        return try await writing { session in
            try PublicItems.settle(session)
            return (try PublicItems.state(session), nil)
        }
    }

    // MARK: Counts

    /// Stores the counts of items, as members of a JSON object without its braces. An item without counts has an empty text.
    package func setCounts(_ counts: [(key: ItemKey, text: String)]) async throws {
        let values: [SQLValue] = [.texts(counts.map(\.key.kind)), .texts(counts.map(\.key.id)), .texts(counts.map(\.text))]
        let asked = "\(Session.dialect.table("asked", ["asked_kind", "asked_id", "new"]))"
        let condition = "kind = asked_kind AND id = asked_id AND coalesce(counts, '') <> new"
        // Most calls change nothing, and a write would wait for imports.
        let changed = try await reading(for: .background) { session in
            var changed: [InPlaceUpdate] = []
            try session.run([SQLCommand("SELECT kind, lane, position FROM \(asked) JOIN item ON \(condition)", values)]) {
                changed.append(InPlaceUpdate(kind: $1.text(0), stream: StreamID(rawValue: $1.integer(1)), position: $1.integer(2)))
            }
            return changed
        }
        guard let first = changed.first else { return }
        try await writing { session in
            try session.run([SQLCommand("UPDATE item SET counts = nullif(new, '') FROM \(asked) WHERE \(condition)", values)]) { _, _ in }
            return ((), changed.count == 1 && first.stream.rawValue >= 0 && first.stream != .advertisements ? first : nil)
        }
    }

    package func hiddenItems() async throws -> HiddenItems {
        try await reading(for: .background) { try PublicItems.hiddenItems($0) }
    }

    // MARK: Sections

    package func streams(_ sections: [SectionConfiguration]) throws(StoreError) -> [String: StreamID] {
        try blocking { try reading { try SectionLayout($0).arranged(by: sections).streams } }
    }

    package func arrange(_ sections: [SectionConfiguration], willWrite: () -> Void = {}) throws(StoreError) -> [String: StreamID] {
        let streams = try blocking {
            let (layout, isArranged) = try reading { session in
                let layout = try SectionLayout(session)
                return (layout, try layout.isArranged(by: sections, session))
            }
            if isArranged { return layout.streams }
            willWrite()
            return try arranging { try SectionLayout.arrange(by: sections, $0).streams }
        }
        let known = sections.compactMap { section in streams[section.name].map { ($0, section.order) } }
        orders = Dictionary(known, uniquingKeysWith: { first, _ in first })
        return streams
    }

    private func blocking<Value>(_ body: () throws -> Value) throws(StoreError) -> Value {
        do {
            return try body()
        } catch let error as any DatabaseFailure {
            throw error.storeError
        } catch let error as StoreError {
            throw error
        } catch {
            throw .unavailable("\(error)")
        }
    }
}

package struct ItemPatchSummary: Sendable, Hashable {
    package var updated = 0
    package var unchanged = 0
    package var unknown = 0

    /// The number of items that are read and written at once.
    static let batch = 2_000
}

package enum FileChange: Sendable, Hashable {
    case gone(String)
    case damaged(String)
    case back(String)
}

package enum ItemChange: Sendable, Hashable {
    case added
    case replaced
    case withheld
}

extension StoreSnapshot where Self: SQLSession {
    package func item(kind: String, id: String) throws -> FeedItem? {
        // The plus sign keeps SQLite from considering the key for it.
        try first(
            "SELECT kind, id, variant, position, \(CountedItem.body) FROM item WHERE kind = ?1 AND id = ?2 AND +lane >= 0",
            .text(kind), .text(id)
        ) { Self.item($0) }
    }

    package func storedItem(kind: String, id: String) throws -> FeedItem? {
        try first("SELECT kind, id, variant, position, body FROM item WHERE kind = ?1 AND id = ?2", .text(kind), .text(id)) {
            Self.item($0)
        }
    }

    package func counts() throws -> [ItemType: Int] {
        let counts = try rows("SELECT kind, variant, count(*) FROM item GROUP BY kind, variant") {
            (ItemType(kind: $0.text(0), variant: $0.text(1)), Int($0.integer(2)))
        }
        return Dictionary(counts, uniquingKeysWith: +)
    }

    package func blockedItems(kind: String, limit: Int) throws -> [BlockedItem] {
        try TakedownTable(self).blockedItems(kind: kind, limit: limit)
    }

    package func listings(in stream: StreamID, between positions: Range<Int64>, limit: Int) throws -> [PinnedAd] {
        // The plus sign keeps SQLite from beginning with the ads.
        try rows(
            """
            SELECT a.kind, a.id, a.variant, a.position, a.body, l.position FROM ad_listing AS l CROSS JOIN item AS a
            WHERE a.kind = l.kind AND a.id = l.id AND l.lane = ?1 AND l.position >= ?2 AND l.position < ?3
            AND +a.lane = \(StreamID.advertisements.rawValue) ORDER BY l.position, l.number LIMIT ?4
            """, .integer(stream.rawValue), .integer(positions.lowerBound), .integer(positions.upperBound), .integer(Int64(max(limit, 0)))
        ) { PinnedAd(position: $0.integer(5), item: Self.item($0)) }
    }

    private static func item(_ row: Row) -> FeedItem {
        FeedItem(
            kind: row.text(0), id: row.text(1), variant: row.text(2), position: row.integer(3), sortKey: nil, body: row.bytes(4))
    }
}
