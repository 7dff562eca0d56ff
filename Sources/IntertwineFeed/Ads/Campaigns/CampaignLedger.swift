/// They must be called on threads that may block.
package protocol CampaignLedger: Sendable {
    func exposures(of viewer: String, since moment: Int64) throws -> [FrequencyCount]

    func refresh(adding offers: [String: Int64], _ queries: [DeliveryQuery], now: Int64) throws -> DeliveryRefresh
}

package struct DeliveryQuery: Sendable, Hashable {
    package var campaign: String
    package var kind: LedgerEvent.Kind
    /// The start of the day in milliseconds since 1970-01-01 UTC.
    package var day: Int64

    package static func recent(at now: Int64) -> Int64 { (now / 900_000 - 1) * 900_000 }
}

package struct DeliveryCount: Sendable, Hashable {
    package var total: Int64
    package var today: Int64
    package var surplus: Int64
    package var offers: Int64
    /// The offers, and the events with those that were not owed, since ``DeliveryQuery/recent(at:)``.
    package var recentOffers: Int64
    package var recentSeen: Int64

    package init(
        total: Int64 = 0, today: Int64 = 0, surplus: Int64 = 0, offers: Int64 = 0, recentOffers: Int64 = 0, recentSeen: Int64 = 0
    ) {
        (self.total, self.today, self.surplus, self.offers) = (total, today, surplus, offers)
        (self.recentOffers, self.recentSeen) = (recentOffers, recentSeen)
    }
}

package typealias DeliveryRefresh = (counts: [DeliveryCount], processes: Int)

package struct FrequencyCount: Sendable, Hashable {
    package var campaign: String
    /// The moment of the impression in milliseconds since 1970-01-01 UTC.
    package var at: Int64
    package var count: Int

    package init(campaign: String, at: Int64, count: Int) {
        (self.campaign, self.at, self.count) = (campaign, at, count)
    }
}
