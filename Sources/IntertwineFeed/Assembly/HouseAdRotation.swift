/// Whose turn it is among the advertisements when a walk through a feed begins.
///
/// Each viewer begins with another one, and with the next one an hour later; whoever has no name begins where everybody of the hour does. So
/// all are shown alike often over viewers and over time, and a page that is asked for twice within the hour is the same page.
package struct RotationSeed: Sendable, Hashable {
    private let viewer: UInt64
    /// Hours since 1970-01-01 UTC.
    var hour: UInt32

    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    package init(viewer: String?, now: Int64) {
        // Names that count up come one after the other, which spreads them more evenly than chance would; others are as good as random.
        self.viewer = viewer?.utf8.reduce(0) { $0 &* 1_000_003 &+ UInt64($1) } ?? 0
        hour = CellTokens.bucket(of: now)
    }

    /// The index of the first one.
    func index(among count: Int) -> Int {
        count > 0 ? Int((viewer &+ UInt64(hour)) % UInt64(count)) : 0
    }

    /// A number below another, the same for the same viewer, hour and attempt (SplitMix64).
    func number(below bound: UInt64, attempt: Int) -> UInt64 {
        var state = (viewer &+ UInt64(hour)) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(truncatingIfNeeded: attempt) &* 0xD1B5_4A32_D192_ED03
        state = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        state = (state ^ (state >> 27)) &* 0x94D0_49BB_1331_11EB
        return (state ^ (state >> 31)) % max(1, bound)
    }
}

/// Knows the advertisements that a layout can show: how they are read, and with which of them a walk begins.
///
/// Up to ``limit`` of them, their positions are known, and each gets its turn. More are not read: a position is drawn between the first and
/// the last one, and counts where it falls into the stretch that the next advertisement owns, as long for each as imports leave between
/// two; otherwise another is drawn. So each of a million is as likely as every other one, at the cost of a few look-ups, but for those that were
/// put closer together than imports put them, which share.
final class HouseAdRotation: Sendable {
    private static let limit = 4_096
    /// What one of them owns, in positions: the distance at which stores append items.
    private static let importGap: Int64 = 1 << 20
    /// Drawn at most; where most were deleted between the first and the last one, the last one drawn holds whatever it owns.
    private static let attempts = 32

    /// The store's advertisements at one moment.
    struct AdInventory {
        /// Nil where there are more than ``limit``.
        fileprivate(set) var positions: [Int64]?
        /// Whether those that can be shown are all that stands in their lane, and stand in no other.
        fileprivate(set) var ownsStream: Bool

        /// Whether the store has changed since: it tells with which one a walk may begin, and no more.
        fileprivate var isStale = false

        /// Whether there are known to be none, where those of campaigns are not counted.
        var isEmpty: Bool { !isStale && positions?.isEmpty ?? false }

        /// Whether fewer than so many stand behind a place.
        func ends(within count: Int, after position: Int64) -> Bool {
            guard let positions else { return false }
            return positions.count < count || positions[positions.count - count] <= position
        }
    }

    let forms: [ItemType]
    private let stock: VersionedCache<AdInventory>

    /// - Parameters:
    ///   - forms: those that can be shown.
    ///   - patience: what looking for them may take for pages to wait for it; where it takes longer, walks begin by an older ``AdInventory``.
    init(types: [ItemType], maximumWait: Duration = .milliseconds(5)) {
        self.forms = types
        stock = VersionedCache(maximumWait: maximumWait)
    }

    /// Which there are; looked for where the store changed since that was last known. A page asks once, as all others do at the same time.
    ///
    /// - Parameter book: its advertisements are none of the rotation's.
    func stock(
        at version: StoreVersion, in snapshot: any FeedSnapshot, of store: any FeedStore, without book: CampaignIndex? = nil
    ) throws -> AdInventory {
        guard !forms.isEmpty else { return AdInventory(positions: [], ownsStream: false) }
        if let current = stock.known(at: version) { return current }
        var found = try stock.value(at: version, in: snapshot, of: store) { [forms] in try Self.stock(of: forms, without: book, in: $0) }
        if stock.known(at: version) == nil { (found.ownsStream, found.isStale) = (false, true) }
        return found
    }

    /// The same as far as it is known: nil where nobody has looked since the store changed.
    func stock(at version: StoreVersion) -> AdInventory? { stock.known(at: version) }

    private static func stock(of forms: [ItemType], without book: CampaignIndex?, in snapshot: any FeedSnapshot) throws -> AdInventory {
        var (positions, count): ([Int64], Int) = ([], 0)
        func note(_ row: ItemRow) {
            count += 1
            if !(book?.hasCreative(row) ?? false) { positions.append(row.position) }
        }
        var met: Set<ItemType> = []
        var hasOthers = false
        try snapshot.visit(.advertisements, .forward, of: nil, limit: limit + 1) { row in
            note(row)
            if let form = forms.first(where: row.isOf) { met.insert(form) } else { hasOthers = true }
        }
        // All of a kind stand in one lane, so none of those that were met stands elsewhere.
        if !hasOthers, count <= limit,
            try forms.allSatisfy({ try met.contains($0) || snapshot.items(of: $0, .forward, of: nil, limit: 1).isEmpty })
        {
            return AdInventory(positions: positions, ownsStream: true)
        }
        (positions, count) = ([], 0)
        try AdCursor(snapshot: snapshot, forms: forms).visit(.forward, of: nil, limit: limit + 1) { note($0) }
        return AdInventory(positions: count > limit ? nil : positions, ownsStream: false)
    }

    /// The position in the rotation behind which a walk begins; nil where there is nothing to choose.
    ///
    /// - Parameter stock: what there is in the snapshot.
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
            // Behind it, and at most at the last one.
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
