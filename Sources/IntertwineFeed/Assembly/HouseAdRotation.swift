internal import IntertwinePrimitives

struct HouseAdInventory {
    fileprivate(set) var positions: [Int64]
    fileprivate(set) var isComplete = true
    fileprivate(set) var ownsStream: Bool
    fileprivate var isStale = false
    /// The number of other rows directly before an ad, by the position of the ad.
    fileprivate var others: [Int64: Int] = [:]

    var isEmpty: Bool { isKnown && positions.isEmpty }

    /// True if `positions` are those of all house ads.
    var isKnown: Bool { !isStale && isComplete }

    /// Returns the position of the next house ad, which is the first one after the last.
    func next(_ direction: PageDirection, of position: Int64?) -> Int64? {
        direction == .forward
            ? positions.first { $0 > position ?? .min } ?? positions.first : positions.last { $0 < position ?? .max } ?? positions.last
    }

    /// Visits the queries for the next house ads in the stream of advertisements, with the positions of the ads that each one finds. Ads of
    /// campaigns between them are not read, unless they are so few that another query costs more.
    func forEachRead(
        _ direction: PageDirection, of position: Int64?, limit: Int, _ body: (RowQuery, ArraySlice<Int64>) throws -> Void
    ) rethrows {
        let isForward = direction == .forward
        var rest =
            isForward
            ? positions.drop { $0 <= position ?? .min }.prefix(limit) : positions.prefix { $0 < position ?? .max }.suffix(limit)
        while let first = isForward ? rest.first : rest.last {
            var count = 1
            var between = 0
            while count < rest.count {
                let gap = others[positions[isForward ? rest.startIndex + count : rest.endIndex - count]] ?? 0
                guard gap <= 16 else { break }
                (count, between) = (count + 1, between + gap)
            }
            let ads = isForward ? rest.prefix(count) : rest.suffix(count)
            rest = isForward ? rest.dropFirst(count) : rest.dropLast(count)
            let beside = SortPosition(position: isForward ? first &- 1 : first &+ 1)
            try body(RowQuery(.stream(.advertisements), direction, of: beside, limit: count + between), ads)
        }
    }

    func ends(within count: Int, after position: Int64) -> Bool {
        isComplete && (positions.count < count || positions[positions.count - count] <= position)
    }
}

final class HouseAdRotation: Sendable {
    static let limit = 4_096
    /// The number of ads, those of campaigns included, that are read of each type for an inventory of several streams.
    private static let scanLimit = 4 * limit

    let types: [ItemType]
    private let cache: VersionedCache<HouseAdInventory>

    init(types: [ItemType], maximumWait: Duration = .milliseconds(5)) {
        self.types = types
        cache = VersionedCache(maximumWait: maximumWait)
    }

    func inventory(at version: StoreVersion, in snapshot: any StoreSnapshot, of store: any FeedStore) throws -> HouseAdInventory {
        guard !types.isEmpty else { return HouseAdInventory(positions: [], ownsStream: false) }
        if let current = cache.known(at: version) { return current }
        var found = try cache.value(at: version, in: snapshot, of: store) { [types] in
            try Self.inventory(of: types, in: $0)
        }
        if cache.known(at: version) == nil { (found.ownsStream, found.isStale) = (false, true) }
        return found
    }

    func inventory(at version: StoreVersion) -> HouseAdInventory? { cache.known(at: version) }

    private static func inventory(of types: [ItemType], in snapshot: any StoreSnapshot) throws -> HouseAdInventory {
        var found = HouseAdInventory(positions: [], ownsStream: true)
        var met: Set<ItemType> = []
        var others = 0
        try snapshot.forEachRow(in: .stream(.advertisements)) { row in
            let type = types.first(where: row.isOf)
            if let type { met.insert(type) }
            if type == nil || HouseField.isFalse(in: row.body) {
                others += 1
            } else {
                if others > 0 { found.others[row.position] = others }
                others = 0
                found.positions.append(row.position)
            }
            return found.positions.count <= limit
        }
        // All items of a kind are in one stream, so the types found here are in no other stream.
        if found.positions.count <= limit,
            try types.allSatisfy({ try met.contains($0) || snapshot.items(RowQuery(.type($0), limit: 1)).isEmpty })
        {
            return found
        }
        var (positions, count): ([Int64], Int) = ([], 0)
        try AdStream(snapshot: snapshot, types: types).visit(.forward, of: nil, limit: scanLimit + 1) { row in
            count += 1
            if positions.count <= limit, !HouseField.isFalse(in: row.body) { positions.append(row.position) }
        }
        return HouseAdInventory(
            positions: Array(positions.prefix(limit)), isComplete: count <= scanLimit && positions.count <= limit, ownsStream: false)
    }

    /// Returns the position of the ad after which the pagination of a feed starts.
    /// All requests without a viewer share the start of the hour. Impressions are therefore distributed evenly over viewers and time, and a
    /// page requested twice within the hour is identical.
    func offset(of viewer: String?, hour: UInt32, in inventory: HouseAdInventory) -> Int64? {
        let (positions, count) = (inventory.positions, inventory.positions.count)
        guard count > 1 else { return nil }
        // Consecutive names get consecutive numbers, which spreads them more evenly than chance. Other names are effectively random.
        let name = viewer?.utf8.reduce(0) { $0 &* 1_000_003 &+ UInt64($1) } ?? 0
        return positions[(Int((name &+ UInt64(hour)) % UInt64(count)) + count - 1) % count]
    }
}

struct AdStream {
    let snapshot: any StoreSnapshot
    let types: [ItemType]
    var inventory: HouseAdInventory?

    func visit(_ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void) throws {
        let anchor = position.map { SortPosition(position: $0) }
        if let inventory, inventory.isKnown, inventory.ownsStream {
            return try inventory.forEachRead(direction, of: position, limit: limit) { query, ads in
                try snapshot.visit(query) { if ads.contains($0.position) { try body($0) } }
            }
        }
        if types.count == 1 { return try snapshot.visit(RowQuery(.type(types[0]), direction, of: anchor, limit: limit), body) }
        var items: [FeedItem] = []
        for type in types { items += try snapshot.items(RowQuery(.type(type), direction, of: anchor, limit: limit)) }
        items.sort { direction == .forward ? $0.position < $1.position : $0.position > $1.position }
        for item in items.prefix(limit) { try item.withRow(body) }
    }
}

extension ItemRow {
    fileprivate func isOf(_ form: ItemType) -> Bool {
        variant.elementsEqual(form.variant.utf8) && kind.elementsEqual(form.kind.utf8)
    }
}
