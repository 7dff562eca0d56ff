/// A store of the feed's items, implemented in the storage module.
///
/// ```swift
/// let items = try await store.read { snapshot in
///     try snapshot.items(in: .content, .forward, of: nil, limit: 20)
/// }
/// ```
public protocol FeedStore: Sendable {
    /// The current version, which changes with every change of any item by any process.
    ///
    /// Read on every request, on the event loop. The implementation must not block, take a lock that a writer holds, or query the database.
    /// A version read before ``read(_:)`` is never newer than that read's snapshot, so pages cached under it are never stale.
    var version: StoreVersion { get }

    /// Returns true if a page with these dependencies is equal in two versions: only other items were updated in place between them.
    ///
    /// Called on the event loop and must not block, like ``version``. False if the store does not know.
    func isValid(_ extent: PageDependencies, from old: StoreVersion, to new: StoreVersion) -> Bool

    /// Runs `body` on one consistent snapshot of the items, on a thread of the store, where `body` may block for disk access.
    ///
    /// - Throws: ``StoreError/unavailable(_:)`` if the store fails, ``StoreError/overloaded`` if too many reads are waiting, or an error of
    ///   `body`.
    func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any FeedSnapshot) throws -> Value
    ) async throws -> Value

    /// Runs `body` on one consistent snapshot and passes the result to a completion handler, for callers without a Swift `Task`.
    ///
    /// - Parameter completion: Called once, on any thread, usually the one that read the store; must not block.
    /// - Returns: A function that cancels the read. A read that is still waiting then fails with `CancellationError`.
    func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any FeedSnapshot) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> @Sendable () -> Void

    /// Checks that the store can serve, for `/readyz`.
    ///
    /// - Throws: ``StoreError/unavailable(_:)`` if it cannot.
    func checkReady() async throws
}

/// The purpose of a read, which determines its priority.
public enum ReadPurpose: Sendable {
    /// A client's request.
    case request
    /// Long or deferrable work. It never uses all threads of the store at once, so that requests continue beside it.
    case background
    /// Speculative work, such as a prefetch. It runs only if the store is idle, and fails with ``StoreError/overloaded`` otherwise.
    case idle
}

extension FeedStore {
    public func isValid(_ extent: PageDependencies, from old: StoreVersion, to new: StoreVersion) -> Bool { old == new }

    /// Reads for a client's request.
    public func read<Value: Sendable>(_ body: @escaping @Sendable (any FeedSnapshot) throws -> Value) async throws -> Value {
        try await read(for: .request, body)
    }

    public func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any FeedSnapshot) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> @Sendable () -> Void {
        let task = Task {
            do { completion(.success(try await read(for: purpose, body))) } catch { completion(.failure(error)) }
        }
        return { task.cancel() }
    }

    public func checkReady() async throws {
        _ = try await read { try $0.items(in: .content, .forward, of: nil, limit: 1).count }
    }
}

/// A consistent snapshot of the items at one moment; valid only inside ``FeedStore/read(_:)``.
public protocol FeedSnapshot {
    /// Announces reads that will follow the next one, so that a remote store can answer all of them in one round trip. They remain optional.
    ///
    /// - Parameter isComplete: True if no other reads are expected. If one follows after all, the store may restart the whole read.
    func prefetch(_ reads: [ReadRequest], isComplete: Bool)

    /// Returns items of a stream in feed order or, if `backward`, in reverse, beginning next to a position, which is excluded.
    ///
    /// - Parameter limit: The maximum number of items. The cost depends on it only, not on how far into the feed the position lies.
    func items(in stream: StreamID, _ direction: PageDirection, of position: Int64?, limit: Int) throws -> [FeedItem]

    /// Returns items of one type, like ``items(in:_:of:limit:)``.
    ///
    /// The cost is equal among advertisements. Among content, items of other types in between add to it.
    func items(of form: ItemType, _ direction: PageDirection, of position: Int64?, limit: Int) throws -> [FeedItem]

    /// Visits the items of ``items(in:_:of:limit:)`` one after another, without copying. Stores with direct access to the bytes implement it.
    ///
    /// - Parameter body: Called for each item; must not read from the snapshot.
    func visit(
        _ stream: StreamID, _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws

    /// Visits the items of ``items(of:_:of:limit:)``, without copying.
    func visit(
        _ form: ItemType, _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws

    /// Visits the items of ``items(in:by:_:of:limit:)``, without copying.
    func visit(
        _ stream: StreamID, by field: SortField, _ direction: PageDirection, of anchor: SortPosition?, limit: Int,
        _ body: (ItemRow) throws -> Void
    ) throws

    /// Returns one item, or nil if the store has no item of that kind and id.
    func item(kind: String, id: String) throws -> FeedItem?

    /// Returns items of a stream ordered by a field from least to greatest, then by position. The items have their ``FeedItem/sortKey``.
    ///
    /// The cost depends on the limit only if the store has an index of the stream by the field.
    func items(
        in stream: StreamID, by field: SortField, _ direction: PageDirection, of anchor: SortPosition?, limit: Int
    ) throws -> [FeedItem]

    /// Returns the number of items in a stream.
    ///
    /// The cost of this method and of ``sortPosition(at:in:by:)`` may depend on the number of items. They are called at most once per
    /// ``FeedStore/version``, and only if ads are placed at the midpoint of the whole feed.
    func count(in stream: StreamID) throws -> Int

    /// Returns the position of the item with an index in a stream, or nil if the index is out of range.
    ///
    /// - Parameter field: The field that orders the stream; nil for the order of positions.
    func sortPosition(at index: Int, in stream: StreamID, by field: SortField?) throws -> SortPosition?

    /// Returns the advertisements that are pinned among the content of a stream; see ``DataSource/listings(in:between:limit:from:)``.
    ///
    /// Empty if the store does not support pinned advertisements.
    func listings(in stream: StreamID, between positions: Range<Int64>, limit: Int) throws -> [PinnedAd]

    /// Returns items of a kind that are taken down until they are released, up to a limit. Empty if the store does not support takedowns.
    func blockedItems(kind: String, limit: Int) throws -> [BlockedItem]

    /// Returns the advertisements that belong to campaigns, including former ones. Empty if the store does not record this.
    func memberships() throws -> [CampaignMembership]

    /// Returns the number of items of each type. The cost may depend on the number of items, so it is for operators, not for requests.
    func counts() throws -> [ItemType: Int]
}

/// An item that was taken down.
public struct BlockedItem: Sendable, Hashable {
    /// The prefix of the entries for a campaign's creatives.
    package static let creative = "creative:"

    public var id: String
    /// The targets of the item's fields: URLs and, with a prefix, the creatives of a campaign. Empty if the item did not exist.
    public var targets: [String]

    public init(id: String, targets: [String] = []) {
        (self.id, self.targets) = (id, targets)
    }

    /// The prefix of the entries for ads that are released from the campaign: the kind, a colon and the id.
    private static let released = "released:"

    /// The ids of a campaign's creatives.
    var creatives: [String] { entries(after: Self.creative) }

    private func entries(after prefix: String) -> [String] {
        targets.compactMap { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : nil }
    }

    private static func entry(of creative: CreativeID) -> String { "\(creative.kind):\(creative.id)" }

    /// The ads that were released while the campaign was taken down.
    var released: Set<String> { Set(entries(after: Self.released)) }

    static func isReleased(_ creative: CreativeID, by released: Set<String>) -> Bool { released.contains(entry(of: creative)) }

    /// True if an entry is a URL, and not a creative or a released ad.
    package static func isURL(_ entry: String) -> Bool { !entry.hasPrefix(creative) && !entry.hasPrefix(released) }

    /// Returns the entries after the release of an ad; nil if the campaign does not name the ad, or the ad is released already.
    ///
    /// A creative without a colon is the id of an advertisement. Others are the ids of cells: a prefix, a colon, the id of the item, and for
    /// some cells a number sign with a suffix.
    package func releasing(_ creative: CreativeID) -> [String]? {
        guard !Self.isReleased(creative, by: released) else { return nil }
        let isNamed = creatives.contains { name in
            if name == creative.id { return creative.kind == Advertisement.kind }
            guard let colon = name.firstIndex(of: ":") else { return false }
            guard (name[..<colon] == Advertisement.kind) == (creative.kind == Advertisement.kind) else { return false }
            let id = name[name.index(after: colon)...]
            return id == creative.id || id.hasPrefix(creative.id + "#")
        }
        return isNamed ? targets + [Self.released + Self.entry(of: creative)] : nil
    }
}

extension FeedSnapshot {
    public func prefetch(_ reads: [ReadRequest], isComplete: Bool) {}
    public func listings(in stream: StreamID, between positions: Range<Int64>, limit: Int) throws -> [PinnedAd] { [] }
    public func blockedItems(kind: String, limit: Int) throws -> [BlockedItem] { [] }
    public func memberships() throws -> [CampaignMembership] { [] }

    public func visit(
        _ stream: StreamID, _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws {
        for item in try items(in: stream, direction, of: position, limit: limit) { try item.withRow(body) }
    }

    public func visit(
        _ form: ItemType, _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws {
        for item in try items(of: form, direction, of: position, limit: limit) { try item.withRow(body) }
    }

    public func visit(
        _ stream: StreamID, by field: SortField, _ direction: PageDirection, of anchor: SortPosition?, limit: Int,
        _ body: (ItemRow) throws -> Void
    ) throws {
        for item in try items(in: stream, by: field, direction, of: anchor, limit: limit) { try item.withRow(body) }
    }
}

/// A range of a stream, as read from a ``FeedSnapshot``.
public struct ReadRequest: Sendable, Hashable {
    public var stream: StreamID
    public var direction: PageDirection
    public var position: Int64?
    public var limit: Int

    public init(stream: StreamID, direction: PageDirection = .forward, position: Int64? = nil, limit: Int) {
        (self.stream, self.direction, self.position, self.limit) = (stream, direction, position, limit)
    }
}

/// The direction in which a page is read from its position.
public enum PageDirection: Sendable, Hashable {
    /// Items after a position, or from the start if the position is nil.
    case forward
    /// Items before a position, or from the end if the position is nil.
    case backward
}

/// Default implementations that iterate over the stream: correct for every store, but slower than a store's own count.
extension FeedSnapshot {
    public func count(in stream: StreamID) throws -> Int {
        var count = 0
        try forEachItem(stream, by: nil) { _ in
            count += 1
            return true
        }
        return count
    }

    public func sortPosition(at index: Int, in stream: StreamID, by field: SortField?) throws -> SortPosition? {
        var rest = index
        var found: SortPosition?
        try forEachItem(stream, by: field) { item in
            if rest == 0 { found = item.sortPosition }
            rest -= 1
            return rest >= 0
        }
        return found
    }

    private func forEachItem(_ stream: StreamID, by field: SortField?, _ visit: (FeedItem) -> Bool) throws {
        let batch = 500
        let reading = OrderedReading(stream: stream, order: SectionSort(by: field))
        var anchor: SortPosition?
        while true {
            let items = try reading.items(.forward, of: anchor, limit: batch, from: self)
            for item in items where !visit(item) { return }
            guard items.count == batch, let last = items.last else { return }
            anchor = last.sortPosition
        }
    }
}

/// A value that identifies the state of a store; equal values mean that nothing changed in between.
public struct StoreVersion: Sendable, Hashable {
    public var high: UInt64
    public var low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// An error of a store or a ledger. The text is for operators and logs; clients receive only the status.
public enum StoreError: Error, Sendable, Hashable {
    /// The store cannot answer now (locked, disk full, file missing) but may later: HTTP status 503.
    case unavailable(String)
    /// More reads are waiting than the configured limit: HTTP status 503 with Retry-After.
    case overloaded
    /// The file is no Intertwine database, is corrupt, or has a newer version: the start fails with this line.
    case unusable(String)
}

extension StoreError {
    /// An error for a unit of work that exceeded its timeout.
    package static let late = StoreError.unavailable("the database did not complete the operation in time")
}

extension StoreError: CustomStringConvertible {
    /// The error as one line for operators.
    public var description: String {
        switch self {
        case .unavailable(let reason), .unusable(let reason): reason
        case .overloaded: "the queue of the disk is full"
        }
    }
}
