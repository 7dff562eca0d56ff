import Synchronization

/// The records of decisions in the ledger, for other processes and for the successor of this process.
extension AdServer {
    /// The number of decisions without campaigns that require a record in the ledger, because the client exceeded its rate of writes.
    package var limitedDecisions: Int { limited.load(ordering: .relaxed) }

    func adopted(_ page: Page, _ key: UInt64, of campaignIndex: CampaignIndex, _ exposures: ViewerFrequency) throws -> [ServedAd?]? {
        guard !exposures.elsewhere.isEmpty || sharesReservations(of: campaignIndex), page.banned.isEmpty, let viewer = page.facts.viewer,
            let ledger
        else {
            return nil
        }
        guard state.withLock({ $0.recentDecisions[key] == nil }),
            let bytes = try ledger.page(Int64(bitPattern: key), of: viewer, now: page.now),
            let allocated = Self.ads(in: bytes, of: campaignIndex), allocated.count == page.slots.count
        else { return nil }
        return state.withLock { state in
            guard let deliveryState = state.deliveryState, deliveryState.campaignIndex === campaignIndex,
                zip(allocated, page.slots).allSatisfy({ allocated, slot in
                    allocated.map { Self.isValid($0, at: slot, deliveryState, page.now) } ?? true
                })
            else { return nil }
            if page.facts.allocates { state.recentDecisions.store(allocated, as: key, now: page.now, lifetime: lifetime) }
            return allocated
        }
    }

    func sharesReservations(of campaignIndex: CampaignIndex) -> Bool {
        isShared && campaignIndex.reportsPlacements && state.withLock { $0.deliveryState?.hasOthers ?? true }
    }

    func claim(
        _ allocated: [ServedAd?], _ page: Page, _ key: UInt64, of campaignIndex: CampaignIndex, _ exposures: ViewerFrequency
    ) -> FrequencyCapReservation? {
        guard let viewer = page.facts.viewer, isShared else { return nil }
        var places: [String: Int] = [:]
        for allocated in allocated.compactMap(\.self) where allocated.remembered > 0 { places[allocated.campaign, default: 0] += 1 }
        guard !places.isEmpty || allocated.contains(where: { $0?.reservation != nil }) && sharesReservations(of: campaignIndex) else {
            return nil
        }
        return FrequencyCapReservation(
            viewer: viewer, process: process, counts: places,
            page: (Int64(bitPattern: key), Self.bytes(of: allocated)), known: exposures.elsewhere.reduce(0) { $0 + $1.count },
            now: page.now, until: page.now &+ lifetime)
    }

    /// Why: A client chooses the names of viewers, so each request could add records.
    func releaseUnrecorded(_ allocated: [ServedAd?], _ page: Page, _ key: UInt64, of campaignIndex: CampaignIndex) -> [ServedAd?] {
        let areReservationsRecorded = sharesReservations(of: campaignIndex)
        func isRecorded(_ served: ServedAd) -> Bool { served.remembered > 0 || areReservationsRecorded && served.reservation != nil }
        let rest = allocated.map { served in served.flatMap { isRecorded($0) ? nil : $0 } }
        release(allocated.compactMap(\.self).filter(isRecorded), page)
        state.withLock { state in
            if rest.contains(where: { $0 != nil }) {
                state.recentDecisions.store(rest, as: key, besides: page.banned, now: page.now, lifetime: lifetime)
            } else {
                state.recentDecisions.forget(key)
            }
        }
        return rest
    }
}
