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
}
