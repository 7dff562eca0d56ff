extension AdServer {
    /// The campaign and creative of an ad slot. The campaign decides about the presentation at the time of each request.
    package struct ServedAd: Sendable, Hashable {
        package var campaign: String
        package var creative: CreativeID
        /// The number of seconds for which the impression counts for the viewer's frequency caps.
        package var remembered: Int
        /// The reservation of the slot; nil if no goal counts slots.
        package var reservation: ReservationID?
        /// The moment in milliseconds since 1970-01-01 UTC until which an impression ends the reservation; nil without a reservation.
        package var ends: Int64?
    }

    /// A page whose ad slots are to be allocated.
    package struct Page: Sendable {
        package var slots: [AdSlotContext]
        /// The number that identifies the page.
        package var identity: UInt32
        package var facts: TargetingContext
        var now: Int64
        /// The only creative that is allowed; nil for the page of a feed, which shows any creative.
        var only: Int32?
        /// The creatives that cannot be shown on the page.
        var banned: [Int32] = []
        /// The coordinates of the slots. If the array is empty, all slots have the coordinate 0.
        var coordinates: [Int] = []
        /// The ads that are shown around the page, and the spacing rules.
        package var distances = AdDistances()

        package init(slots: [AdSlotContext], identity: UInt32, facts: TargetingContext, now: Int64, only: Int32? = nil) {
            (self.slots, self.identity, self.facts, self.now, self.only) = (slots, identity, facts, now, only)
        }

        /// The order in which slots are allocated: from the edge at which reading of the page begins.
        var order: [Int] { distances.isBackward ? slots.indices.reversed() : Array(slots.indices) }

        func coordinate(of slot: Int) -> Int { coordinates.indices.contains(slot) ? coordinates[slot] : 0 }
    }

    /// Renews the reservations of a page that is requested again, if half of their time is over. Reservations that an impression ended, or that
    /// expired, stay as they are.
    ///
    /// - Returns: True if any reservation was renewed.
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
