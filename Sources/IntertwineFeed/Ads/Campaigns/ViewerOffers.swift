internal import IntertwinePrimitives

/// The offers of campaigns with frequency caps that were made to each viewer and are not seen yet.
/// The ledger judges each impression by the caps, so an offer that another process did not know costs a surplus impression.
struct ViewerOffers {
    typealias OfferCount = (campaign: String, count: Int, until: Int64)

    private static let lifetime: Int64 = 1_800_000
    private static let capacity = 65_536

    private var viewers = BoundedCache<UInt64, [OfferCount]>(limit: capacity)

    func offers(to viewer: String, now: Int64) -> [OfferCount] {
        viewers.peek(AdDecision.seed(viewer))?.filter { $0.until > now && $0.until <= now &+ Self.lifetime } ?? []
    }

    mutating func add(_ campaign: String, to viewer: String, now: Int64) {
        var offers = offers(to: viewer, now: now)
        let count = offers.first { $0.campaign == campaign }?.count ?? 0
        offers.removeAll { $0.campaign == campaign }
        viewers[AdDecision.seed(viewer)] = offers + [(campaign, count + 1, now &+ Self.lifetime)]
    }

    mutating func remove(_ campaign: String, of viewer: String) {
        let key = AdDecision.seed(viewer)
        guard var offers = viewers.peek(key), let index = offers.firstIndex(where: { $0.campaign == campaign }) else { return }
        offers[index].count -= 1
        if offers[index].count == 0 { offers.remove(at: index) }
        viewers[key] = offers.isEmpty ? nil : offers
    }

    /// Returns how often the viewer may see each campaign of those seen or offered; nil without a viewer.
    func room(of campaignIndex: CampaignIndex, for viewer: String?, seen: [FrequencyCount], now: Int64) -> [Int32: Int]? {
        guard let viewer else { return nil }
        var room: [Int32: Int] = [:]
        guard campaignIndex.hasCaps else { return room }
        // Each impression is read once, because a viewer may have many. Most campaigns have one cap; for several caps, each remainder is
        // tracked.
        room.reserveCapacity(seen.count)
        var left: [Int32: [Int]] = [:]
        func take(_ campaign: String, _ count: Int, at moment: Int64? = nil) {
            guard let index = campaignIndex.index(of: campaign), let first = campaignIndex.campaigns[index].caps.first else { return }
            let caps = campaignIndex.campaigns[index].caps
            func counts(_ cap: FrequencyCap) -> Bool { moment.map { $0 > now - Int64(cap.window) * 1_000 } ?? true }
            guard caps.count > 1 else {
                if counts(first) { room[Int32(index), default: first.count] -= count }
                return
            }
            for (number, cap) in caps.enumerated() where counts(cap) {
                left[Int32(index), default: caps.map(\.count)][number] -= count
            }
        }
        for seen in seen { take(seen.campaign, seen.count, at: seen.at) }
        for offer in offers(to: viewer, now: now) { take(offer.campaign, offer.count) }
        for (campaign, left) in left { room[campaign] = left.min() }
        return room
    }
}
