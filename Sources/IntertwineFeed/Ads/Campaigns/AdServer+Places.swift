extension AdServer {
    package struct ServedAd: Sendable, Hashable {
        package var campaign: String
        package var creative: CreativeID
        package var remembered: Int
        /// The moment of the decision in milliseconds since 1970-01-01 UTC. A repeated page has equal tokens.
        package var served: Int64 = 0
        package var reservation: ReservationID?
        /// The moment in milliseconds since 1970-01-01 UTC until which an impression ends the reservation; nil without a reservation.
        package var ends: Int64?
    }

    package struct Page: Sendable {
        package var slots: [AdSlotContext]
        package var identity: UInt32
        package var facts: TargetingContext
        var now: Int64
        var only: Int32?
        var banned: [Int32] = []
        var coordinates: [Int] = []
        package var distances = AdDistances()

        package init(slots: [AdSlotContext], identity: UInt32, facts: TargetingContext, now: Int64, only: Int32? = nil) {
            (self.slots, self.identity, self.facts, self.now, self.only) = (slots, identity, facts, now, only)
        }

        var order: [Int] { distances.isBackward ? slots.indices.reversed() : Array(slots.indices) }

        func coordinate(of slot: Int) -> Int { coordinates.indices.contains(slot) ? coordinates[slot] : 0 }
    }

    func renew(_ allocated: inout [ServedAd?], _ deliveryState: inout DeliveryState, now: Int64) -> Bool {
        var isRenewed = false
        for number in allocated.indices {
            guard let one = allocated[number], let reservation = one.reservation, let ends = one.ends, ends < now &+ lifetime / 2,
                let index = deliveryState.campaignIndex.index(of: one.campaign),
                let renewed = deliveryState.renew(index, reservation, at: now)
            else { continue }
            allocated[number]?.reservation = renewed
            allocated[number]?.ends = now &+ lifetime
            isRenewed = true
        }
        return isRenewed
    }
}
