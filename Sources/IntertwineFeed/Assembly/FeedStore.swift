/// Where the feed's items are kept. Implemented in Storage.
public protocol FeedStore: Sendable {
    /// Another value after every change of any item, whichever process made it.
    ///
    /// Read on every request, on the event loop: it must not block, take a lock that a writer holds, or ask the database.
    /// A value read before ``read(_:)`` is never newer than what that read sees, so pages cached under it are never stale.
    var version: StoreVersion { get }

    /// Whether a page that was read from there in one state is what would be read in another: nothing happened in between but that items
    /// elsewhere were replaced in their places.
    ///
    /// On the event loop: as ``version``. False where the store does not know.
    func isValid(_ extent: PageDependencies, from old: StoreVersion, to new: StoreVersion) -> Bool

    /// Runs `body` on one consistent snapshot of the items. It may block for as long as a disk takes, so that is done on threads of the store's
    /// own.
    ///
    /// - Throws: ``StoreError/unavailable(_:)`` where the store cannot answer, ``StoreError/overloaded`` where too much waits for it, or what
    ///   `body` throws.
    func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any FeedSnapshot) throws -> Value
    ) async throws -> Value

    /// The same for those who have no task to wait in.
    ///
    /// - Parameter completion: called once, on whatever thread it happens to be, mostly the one that read: it must not hold that up.
    /// - Returns: what calls the read off. One that still waits then fails as `CancellationError`.
    func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any FeedSnapshot) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> @Sendable () -> Void

    /// Whether the store can serve, as `/readyz` asks.
    ///
    /// - Throws: ``StoreError/unavailable(_:)`` where it cannot.
    func checkReady() async throws
}

/// What a store is read for, which decides what the read waits for.
public enum ReadPurpose: Sendable {
    /// Somebody's request.
    case request
    /// What takes long, or can wait: never on all threads of the store at once, so that requests go on beside it.
    case background
    /// What may be of use later: read where nothing else is, and otherwise ``StoreError/overloaded``.
    case idle
}

extension FeedStore {
    public func isValid(_ extent: PageDependencies, from old: StoreVersion, to new: StoreVersion) -> Bool { old == new }

    /// Reads for somebody's request.
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

/// The items as they stood at one moment; valid only inside ``FeedStore/read(_:)``.
public protocol FeedSnapshot {
    /// Says what will be read besides what is read next, so that a store which is far away answers all of it at once. None of it has to be read.
    ///
    /// - Parameter isAll: whether nothing else will be, as far as can be told. Where it is after all, the store may begin the whole read anew.
    func prefetch(_ reads: [ReadRequest], isComplete: Bool)

    /// Items of a lane in feed order (or, going `backward`, in reverse), beginning next to a position that is itself left out.
    ///
    /// - Parameter limit: at most so many items; the cost depends on it alone, never on how far into the feed the position lies.
    func items(in lane: StreamID, _ direction: PageDirection, of position: Int64?, limit: Int) throws -> [FeedItem]

    /// The same for the items of one form only. At that cost among advertisements; among content, other forms in between cost too.
    func items(of form: ItemType, _ direction: PageDirection, of position: Int64?, limit: Int) throws -> [FeedItem]

    /// The same items as ``items(in:_:of:limit:)``, one after another, none of them copied. To be answered by whatever has their bytes.
    ///
    /// - Parameter body: reads nothing else from the snapshot.
    func visit(
        _ lane: StreamID, _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws

    /// The same for ``items(of:_:of:limit:)``.
    func visit(
        _ form: ItemType, _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws

    /// The same for ``items(in:by:_:of:limit:)``.
    func visit(
        _ lane: StreamID, by field: SortField, _ direction: PageDirection, of place: SortPosition?, limit: Int,
        _ body: (ItemRow) throws -> Void
    ) throws

    /// One item, or nil if the store has none of that kind and id.
    func item(kind: String, id: String) throws -> FeedItem?

    /// The same by a field, from the least value to the greatest and among equal ones by position. The items have their ``FeedItem/sortKey``.
    ///
    /// At that cost where the store was told to order the lane by the field.
    func items(
        in lane: StreamID, by field: SortField, _ direction: PageDirection, of place: SortPosition?, limit: Int
    ) throws -> [FeedItem]

    /// How many items a lane holds.
    ///
    /// The cost of this and of ``place(at:in:by:)`` may depend on the number of items: they are asked at most once per
    /// ``FeedStore/version``, and only where advertisements stand at the middle of the whole feed.
    func count(in lane: StreamID) throws -> Int

    /// The place of the item with an index in a lane; nil where there is none.
    ///
    /// - Parameter field: what orders the lane; nil for positions.
    func sortPosition(at index: Int, in lane: StreamID, by field: SortField?) throws -> SortPosition?

    /// Advertisements that were listed among the content of a lane: see ``DataSource/listings(in:between:limit:from:)``. None where a store does
    /// not keep that.
    func listings(in lane: StreamID, between positions: Range<Int64>, limit: Int) throws -> [PinnedAd]

    /// What is taken down of a kind, and stays away until it is released; at most so many. None where a store does not keep that.
    func blockedItems(kind: String, limit: Int) throws -> [BlockedItem]

    /// Which advertisements belong to campaigns, those of the past included. None where a store does not keep that.
    func memberships() throws -> [CampaignMembership]

    /// How many items there are of each form; the cost may depend on the number of items, so it is for operators, not for requests.
    func counts() throws -> [ItemType: Int]
}

/// An item that was taken down.
public struct BlockedItem: Sendable, Hashable {
    /// What the creatives of a campaign stand behind.
    package static let creative = "creative:"

    public var id: String
    /// What its fields led to: URLs, and the creatives of a campaign; none where it was not there.
    public var isPrimary: [String]

    public init(id: String, leads: [String] = []) {
        (self.id, self.isPrimary) = (id, leads)
    }

    /// The ids of a campaign's creatives.
    var creatives: [String] {
        isPrimary.compactMap { $0.hasPrefix(Self.creative) ? String($0.dropFirst(Self.creative.count)) : nil }
    }
}

extension FeedSnapshot {
    public func prefetch(_ reads: [ReadRequest], isComplete: Bool) {}
    public func listings(in lane: StreamID, between positions: Range<Int64>, limit: Int) throws -> [PinnedAd] { [] }
    public func blockedItems(kind: String, limit: Int) throws -> [BlockedItem] { [] }
    public func memberships() throws -> [CampaignMembership] { [] }

    public func visit(
        _ lane: StreamID, _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws {
        for item in try items(in: lane, direction, of: position, limit: limit) { try item.withRow(body) }
    }

    public func visit(
        _ form: ItemType, _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void
    ) throws {
        for item in try items(of: form, direction, of: position, limit: limit) { try item.withRow(body) }
    }

    public func visit(
        _ lane: StreamID, by field: SortField, _ direction: PageDirection, of place: SortPosition?, limit: Int,
        _ body: (ItemRow) throws -> Void
    ) throws {
        for item in try items(in: lane, by: field, direction, of: place, limit: limit) { try item.withRow(body) }
    }
}

/// A stretch of a lane, as a ``FeedSnapshot`` is asked for it.
public struct ReadRequest: Sendable, Hashable {
    public var stream: StreamID
    public var direction: PageDirection
    public var position: Int64?
    public var limit: Int

    public init(stream: StreamID, direction: PageDirection = .forward, position: Int64? = nil, limit: Int) {
        (self.stream, self.direction, self.position, self.limit) = (stream, direction, position, limit)
    }
}

/// Which way a page is read from its position.
public enum PageDirection: Sendable, Hashable {
    /// Items that stand after a place; from the start where there is none.
    case forward
    /// Items that stand before a place; from the end where there is none.
    case backward
}

/// Walks the lane: right for every store, and slower than one that can count.
extension FeedSnapshot {
    public func count(in lane: StreamID) throws -> Int {
        var count = 0
        try forEachItem(lane, by: nil) { _ in
            count += 1
            return true
        }
        return count
    }

    public func sortPosition(at index: Int, in lane: StreamID, by field: SortField?) throws -> SortPosition? {
        var rest = index
        var found: SortPosition?
        try forEachItem(lane, by: field) { item in
            if rest == 0 { found = item.sortPosition }
            rest -= 1
            return rest >= 0
        }
        return found
    }

    private func forEachItem(_ lane: StreamID, by field: SortField?, _ visit: (FeedItem) -> Bool) throws {
        let batch = 500
        let reading = OrderedReading(stream: lane, order: SectionSort(by: field))
        var place: SortPosition?
        while true {
            let items = try reading.items(.forward, of: place, limit: batch, from: self)
            for item in items where !visit(item) { return }
            guard items.count == batch, let last = items.last else { return }
            place = last.sortPosition
        }
    }
}

/// Tells one state of a store from another; equal values mean that nothing changed in between.
public struct StoreVersion: Sendable, Hashable {
    public var high: UInt64
    public var low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// What a store or a ledger can fail with. The text is for operators and their logs; clients are told the status alone.
public enum StoreError: Error, Sendable, Hashable {
    /// Cannot answer now (locked, disk full, file gone) but may later: 503 over HTTP.
    case unavailable(String)
    /// More is waiting than the configured bound: 503 with Retry-After over HTTP.
    case overloaded
    /// The file is no database of ours, is damaged, or is of a newer version: the start fails with this line.
    case unusable(String)
}

extension StoreError {
    /// A unit of work waited for longer than it may.
    package static let late = StoreError.unavailable("the database did not take it in time")
}

extension StoreError: CustomStringConvertible {
    /// One line for operators.
    public var description: String {
        switch self {
        case .unavailable(let reason), .unusable(let reason): reason
        case .overloaded: "too much is waiting for the disk"
        }
    }
}
