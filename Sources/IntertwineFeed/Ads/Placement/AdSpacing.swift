package import IntertwinePrimitives

/// The minimum distances between impressions of an ad in one pagination session, in content items, for campaigns and house ads.
package struct AdSpacing: Sendable, Hashable {
    package static let limits = (creative: 1...1_000, label: 0...1_000)

    package var creative: Int
    package var label: Int

    package init(creative: Int = 1, label: Int = 20) {
        (self.creative, self.label) = (creative, label)
    }

    fileprivate func reach(of key: AdKey) -> Int { key.isLabel ? label : creative }
}

package struct AdKey: Hashable {
    private static let labelBit: UInt32 = 1 << 31

    private(set) var number: UInt32

    fileprivate init(number: UInt32) { self.number = number }

    package init(_ row: ItemRow) { number = Self.hash(row.kind, row.id) & ~Self.labelBit }

    package init(_ creative: CreativeID) {
        number = Self.hash(creative.kind.utf8, creative.id.utf8) & ~Self.labelBit
    }

    init(label: String) { number = Self.hash(EmptyCollection(), label.utf8) | Self.labelBit }

    fileprivate var isLabel: Bool { number & Self.labelBit != 0 }

    private static func hash(_ kind: some Sequence<UInt8>, _ id: some Sequence<UInt8>) -> UInt32 {
        let hash = FNV1a.hash(id, after: FNV1a.hash(CollectionOfOne(0), after: FNV1a.hash(kind)))
        return UInt32(truncatingIfNeeded: AdDecision.mix(hash) >> 32)
    }
}

/// The number of ad slots that campaigns of each priority got in a pagination session, each modulo 1,024.
struct PriorityCounts: Hashable {
    private static let bits: UInt32 = 10
    private static let mask: UInt32 = 1 << bits - 1

    private(set) var packed: UInt32 = 0

    subscript(priority: Campaign.Priority) -> UInt32 {
        get { packed >> (Self.bits * UInt32(priority.rank)) & Self.mask }
        set {
            let shift = Self.bits * UInt32(priority.rank)
            packed = packed & ~(Self.mask << shift) | (newValue & Self.mask) << shift
        }
    }

    static func + (one: PriorityCounts, other: PriorityCounts) -> PriorityCounts { one.merged(with: other, &+) }
    static func - (one: PriorityCounts, other: PriorityCounts) -> PriorityCounts { one.merged(with: other, &-) }

    private func merged(with other: PriorityCounts, _ operation: (UInt32, UInt32) -> UInt32) -> PriorityCounts {
        var merged: UInt32 = 0
        for shift in stride(from: 0, to: UInt32(UInt32.bitWidth) - Self.bits, by: Int(Self.bits)) {
            merged |= (operation(packed >> shift, other.packed >> shift) & Self.mask) << shift
        }
        return PriorityCounts(packed: merged)
    }
}

/// The advertisements shown near the edge between two pages of a pagination session, as cursors carry them.
package struct ShownAds: Hashable {
    struct Impression: Hashable {
        var key: AdKey
        var isBefore: Bool
        var distance: Int
    }

    static let limit = 64

    var counts: PriorityCounts
    var chance: UInt32
    var impressions: [Impression]

    init(counts: PriorityCounts = PriorityCounts(), chance: UInt32 = 0, impressions: [Impression] = []) {
        (self.counts, self.chance, self.impressions) = (counts, chance, impressions)
    }

    package func write(to writer: inout ByteWriter) {
        writer.write(counts.packed)
        writer.write(chance)
        writer.write(UInt8(clamping: impressions.count))
        for shownAd in impressions {
            writer.write(shownAd.key.number)
            writer.write(UInt16(clamping: shownAd.distance) << 1 | (shownAd.isBefore ? 1 : 0))
        }
    }

    package init?(_ reader: inout ByteReader) {
        guard let counts = reader.readUInt32(), let chance = reader.readUInt32(), let count = reader.readByte(), Int(count) <= Self.limit
        else { return nil }
        var impressions: [Impression] = []
        for _ in 0..<count {
            guard let key = reader.readUInt32(), let distance = reader.readUInt16() else { return nil }
            impressions.append(
                Impression(key: AdKey(number: key), isBefore: distance & 1 != 0, distance: Int(distance >> 1)))
        }
        self.init(counts: PriorityCounts(packed: counts), chance: chance, impressions: impressions)
    }
}

package struct AdDistances {
    private typealias Impression = (key: AdKey, at: Int)

    private let spacing: AdSpacing
    private let count: Int
    let isBackward: Bool
    private var (countsBeforeEdge, countsOnPage): (PriorityCounts, PriorityCounts)
    private var near: [Impression] = []
    private var far: [Impression] = []
    private var onPage: [Impression] = []
    private(set) var chance: UInt32

    package init(_ spacing: AdSpacing = AdSpacing(), count: Int = 0, isBackward: Bool = false, around shown: ShownAds? = nil) {
        (self.spacing, self.count, self.isBackward) = (spacing, count, isBackward)
        (countsBeforeEdge, countsOnPage) = (shown?.counts ?? PriorityCounts(), PriorityCounts())
        chance = shown?.chance ?? 0
        let edge = isBackward ? count : 0
        for shownAd in shown?.impressions ?? [] {
            let found = (
                shownAd.key, shownAd.isBefore ? edge - shownAd.distance : edge + shownAd.distance
            )
            if shownAd.isBefore == isBackward { far.append(found) } else { near.append(found) }
        }
    }

    /// Slots that other ads get do not count. Why: campaigns that take turns would otherwise miss theirs if the other ads are at regular
    /// distances.
    func turn(of priority: Campaign.Priority) -> UInt64 {
        guard isBackward else { return UInt64((countsBeforeEdge + countsOnPage)[priority]) }
        var count = countsBeforeEdge - countsOnPage
        count[priority] &-= 1
        return UInt64(count[priority])
    }

    var isEmpty: Bool { near.isEmpty && far.isEmpty && onPage.isEmpty }

    package func permits(_ key: AdKey, at coordinate: Int) -> Bool {
        let reach = spacing.reach(of: key)
        func isNear(_ shownAd: Impression) -> Bool { shownAd.key == key && abs(shownAd.at - coordinate) < reach }
        return !onPage.contains(where: isNear) && !near.contains(where: isNear)
            && !far.contains { $0.at != coordinate && isNear($0) }
    }

    package mutating func begin(_ chance: UInt64) { if self.chance == 0 { self.chance = max(1, UInt32(truncatingIfNeeded: chance)) } }

    package mutating func note(_ key: AdKey, at coordinate: Int) { onPage.append((key, coordinate)) }

    package mutating func note(_ creative: AdKey, of priority: Campaign.Priority, labels: some Sequence<AdKey>, at coordinate: Int) {
        note(creative, at: coordinate)
        countsOnPage[priority] &+= 1
        for label in labels { note(label, at: coordinate) }
    }

    package func beside(_ direction: PageDirection) -> ShownAds? {
        let edge = direction == .forward ? count : 0
        var impressions: [ShownAds.Impression] = []
        func add(_ shownAd: Impression, isBefore: Bool) {
            let distance = abs(shownAd.at - edge)
            // A slot directly at the edge is filled again if the session returns to it.
            let isBehindEdge = isBefore == (direction == .backward)
            guard distance < spacing.reach(of: shownAd.key), distance > 0 || !isBehindEdge else { return }
            impressions.append(ShownAds.Impression(key: shownAd.key, isBefore: isBefore, distance: distance))
        }
        for shownAd in near { add(shownAd, isBefore: !isBackward) }
        for shownAd in onPage { add(shownAd, isBefore: direction == .forward) }
        // Advertisements on the page itself were added in the loop above.
        for shownAd in far where isBackward ? shownAd.at < 0 : shownAd.at > count {
            add(shownAd, isBefore: isBackward)
        }
        guard chance != 0 || !impressions.isEmpty else { return nil }
        impressions.sort { ($0.distance, $0.key.number, $0.isBefore ? 0 : 1) < ($1.distance, $1.key.number, $1.isBefore ? 0 : 1) }
        var counts = countsBeforeEdge
        if isBackward != (direction == .forward) {
            counts = isBackward ? countsBeforeEdge - countsOnPage : countsBeforeEdge + countsOnPage
        }
        if impressions.count > ShownAds.limit { impressions.removeLast(impressions.count - ShownAds.limit) }
        return ShownAds(counts: counts, chance: chance, impressions: impressions)
    }
}
