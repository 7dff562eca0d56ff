/// A seed that selects a house ad as the start of pagination in a feed.
///
/// Each viewer starts with another ad, and with the next one an hour later. All requests without a viewer share the start of the hour.
/// Impressions are therefore distributed evenly over viewers and time, and a page requested twice within the hour is identical.
package struct RotationSeed: Sendable, Hashable {
    private let viewer: UInt64
    /// The hours since 1970-01-01 UTC.
    var hour: UInt32

    /// Creates a seed.
    ///
    /// - Parameter now: The time in milliseconds since 1970-01-01 UTC.
    package init(viewer: String?, now: Int64) {
        // Consecutive names get consecutive numbers, which spreads them more evenly than chance. Other names are effectively random.
        self.viewer = viewer?.utf8.reduce(0) { $0 &* 1_000_003 &+ UInt64($1) } ?? 0
        hour = CellTokens.bucket(of: now)
    }

    /// Returns the index of the first advertisement.
    func index(among count: Int) -> Int {
        count > 0 ? Int((viewer &+ UInt64(hour)) % UInt64(count)) : 0
    }

    /// Returns a number below a bound, which depends on viewer, hour and attempt only (SplitMix64).
    func number(below bound: UInt64, attempt: Int) -> UInt64 {
        var state = (viewer &+ UInt64(hour)) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(truncatingIfNeeded: attempt) &* 0xD1B5_4A32_D192_ED03
        state = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        state = (state ^ (state >> 27)) &* 0x94D0_49BB_1331_11EB
        return (state ^ (state >> 31)) % max(1, bound)
    }
}

/// House ads that a layout can show, with the selection of the ad that a pagination session starts with.
///
/// If there are at most ``limit`` ads, their positions are cached and each gets its turn. Otherwise a position between the first and the last
/// ad is drawn at random. It is accepted if it falls into the range of the next ad; otherwise another is drawn. The length of
/// a range is the gap that imports leave between two items.
/// Each of a million ads is therefore equally likely, at the cost of a few lookups. Ads that were placed
/// closer together than an import gap share their probability.
final class HouseAdRotation: Sendable {
    private static let limit = 4_096
    /// The length of the range of one ad, in positions: the gap with which stores append items.
    private static let importGap: Int64 = 1 << 20
    /// The maximum number of draws. If most ads between the first and the last were deleted, the last draw is used without the check.
    private static let attempts = 32

    /// The store's advertisements at one moment.
    struct AdInventory {
        /// The positions; nil if there are more than ``limit``.
        fileprivate(set) var positions: [Int64]?
        /// True if the advertisement stream contains exactly the ads that can be shown, and no other stream contains any of them.
        fileprivate(set) var ownsStream: Bool

        /// True if the store has changed since. The inventory then only selects the ad that a session starts with.
        fileprivate var isStale = false

        /// True if it is known that there are no house ads.
        var isEmpty: Bool { !isStale && positions?.isEmpty ?? false }

        /// Returns true if fewer than `count` ads follow a position.
        func ends(within count: Int, after position: Int64) -> Bool {
            guard let positions else { return false }
            return positions.count < count || positions[positions.count - count] <= position
        }
    }

    let forms: [ItemType]
    private let stock: VersionedCache<AdInventory>

    /// Creates a rotation.
    ///
    /// - Parameters:
    ///   - types: The types that can be shown.
    ///   - maximumWait: The maximum time that pages wait for reading the ads. If it takes longer, sessions start by an older ``AdInventory``.
    init(types: [ItemType], maximumWait: Duration = .milliseconds(5)) {
        self.forms = types
        stock = VersionedCache(maximumWait: maximumWait)
    }

    /// Returns the inventory, which is read again if the store has changed. Each page reads it once; concurrent reads are coalesced.
    ///
    /// - Parameter campaignIndex: The index of campaigns, whose creatives are excluded.
    func stock(
        at version: StoreVersion, in snapshot: any FeedSnapshot, of store: any FeedStore, without campaignIndex: CampaignIndex? = nil
    ) throws -> AdInventory {
        guard !forms.isEmpty else { return AdInventory(positions: [], ownsStream: false) }
        if let current = stock.known(at: version) { return current }
        var found = try stock.value(at: version, in: snapshot, of: store) { [forms] in
            try Self.stock(of: forms, without: campaignIndex, in: $0)
        }
        if stock.known(at: version) == nil { (found.ownsStream, found.isStale) = (false, true) }
        return found
    }

    /// Returns the cached inventory, or nil if it was not read since the store changed.
    func stock(at version: StoreVersion) -> AdInventory? { stock.known(at: version) }

    private static func stock(of forms: [ItemType], without campaignIndex: CampaignIndex?, in snapshot: any FeedSnapshot) throws
        -> AdInventory
    {
        var (positions, count): ([Int64], Int) = ([], 0)
        func note(_ row: ItemRow) {
            count += 1
            if !(campaignIndex?.hasCreative(row) ?? false) { positions.append(row.position) }
        }
        var met: Set<ItemType> = []
        var hasOthers = false
        try snapshot.visit(.advertisements, .forward, of: nil, limit: limit + 1) { row in
            note(row)
            if let form = forms.first(where: row.isOf) { met.insert(form) } else { hasOthers = true }
        }
        // All items of a kind are in one stream, so the types found here are in no other stream.
        if !hasOthers, count <= limit,
            try forms.allSatisfy({ try met.contains($0) || snapshot.items(of: $0, .forward, of: nil, limit: 1).isEmpty })
        {
            return AdInventory(positions: positions, ownsStream: true)
        }
        (positions, count) = ([], 0)
        try AdCursor(snapshot: snapshot, forms: forms).visit(.forward, of: nil, limit: limit + 1) { note($0) }
        return AdInventory(positions: count > limit ? nil : positions, ownsStream: false)
    }

    /// Returns the position in the rotation after which a session starts, or nil if there is no choice.
    ///
    /// - Parameter stock: The inventory of the snapshot.
    func offset(_ start: RotationSeed, of stock: AdInventory, in snapshot: any FeedSnapshot) throws -> Int64? {
        guard let positions = stock.positions else {
            return try drawn(start, from: AdCursor(snapshot: snapshot, forms: forms))
        }
        guard positions.count > 1 else { return nil }
        return positions[(start.index(among: positions.count) + positions.count - 1) % positions.count]
    }

    private func drawn(_ start: RotationSeed, from stream: AdCursor) throws -> Int64? {
        guard let first = try stream.position(.forward, of: nil), let last = try stream.position(.backward, of: nil) else { return nil }
        let lowest = first.subtractingReportingOverflow(Self.importGap).partialValue
        let (distance, overflow) = last.subtractingReportingOverflow(lowest)
        guard !overflow, distance > 0 else { return nil }
        var chosen: Int64?
        for attempt in 0..<Self.attempts {
            // The drawn position lies before the last ad, so a next ad exists.
            let drawn = lowest &+ Int64(start.number(below: UInt64(distance), attempt: attempt))
            guard let next = try stream.position(.forward, of: drawn) else { continue }
            chosen = drawn
            if next &- drawn <= Self.importGap { break }
        }
        return chosen
    }
}

extension ItemRow {
    fileprivate func isOf(_ form: ItemType) -> Bool {
        variant.elementsEqual(form.variant.utf8) && kind.elementsEqual(form.kind.utf8)
    }
}
