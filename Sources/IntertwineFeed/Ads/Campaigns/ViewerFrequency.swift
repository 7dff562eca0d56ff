struct ViewerFrequency {
    var seen: [FrequencyCount] = []

    func room(
        of campaignIndex: CampaignIndex, for viewer: String?, besides offers: ViewerOffers, now: Int64
    ) -> [Int32: Int]? {
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
        for offer in offers.offers(to: viewer, now: now) { take(offer.campaign, offer.count) }
        for (campaign, left) in left { room[campaign] = left.min() }
        return room
    }
}
