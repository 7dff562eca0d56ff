extension AdServer {
    /// What a place was given to. How it is shown its campaign says whenever it is.
    package struct ServedAd: Sendable, Hashable {
        package var campaign: String
        package var creative: CreativeID
        /// For how long the viewer's having seen it is remembered. Seconds.
        package var remembered: Int
        /// Nil where it is of no goal that counts places.
        package var reservation: ReservationID?
        /// Until when an impression ends the reservation of the place, in milliseconds since 1970-01-01 UTC; nil without one.
        package var ends: Int64?
    }

    /// A page whose places are to be given.
    struct Page: Sendable {
        var slots: [AdSlotContext]
        /// Tells the page from others.
        var identity: UInt32
        var facts: TargetingContext
        var now: Int64
        /// The one creative that is asked for; nil for a page of a feed, which shows any.
        var only: Int32?
        /// Creatives that cannot be shown on it.
        var banned: [Int32] = []
        /// The coordinates of the places; all places stand side by side where there are none.
        var coordinates: [Int] = []
        /// What is shown around the page.
        var distances = AdDistances()

        init(slots: [AdSlotContext], identity: UInt32, facts: TargetingContext, now: Int64, only: Int32? = nil) {
            (self.slots, self.identity, self.facts, self.now, self.only) = (slots, identity, facts, now, only)
        }

        /// In the order in which places are given: from the edge that the page is read from.
        var order: [Int] { distances.isBackward ? slots.indices.reversed() : Array(slots.indices) }

        /// How the campaigns of a place are chosen, and where it stands.
        func spot(_ number: Int) -> AdDecision.Spot {
            AdDecision.Spot(
                coordinate: coordinates.indices.contains(number) ? coordinates[number] : 0,
                number: UInt64(distances.firstPlace &+ UInt32(clamping: number)))
        }
    }

    /// Has the places of a page that is asked for again be reserved from now on, if half of their time is over. Places that were seen, or whose
    /// time is over, stay as they are.
    ///
    /// - Returns: whether any was.
    func renew(_ given: inout [ServedAd?], _ standing: inout DeliveryState, now: Int64) -> Bool {
        var isRenewed = false
        for number in given.indices {
            guard let one = given[number], let place = one.reservation, let ends = one.ends, ends < now &+ lifetime / 2,
                let index = standing.book.index(of: one.campaign), let renewed = standing.renew(index, place, at: now)
            else { continue }
            given[number]?.reservation = renewed
            given[number]?.ends = now &+ lifetime
            isRenewed = true
        }
        return isRenewed
    }
}
