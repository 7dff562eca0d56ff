/// What campaigns ask of a ledger. Implemented in Storage; without, what is delivered is known to the process alone, and forgotten with it.
package protocol CampaignLedger: Sendable {
    /// What campaigns have delivered. It blocks: to be called on threads that may be blocked.
    func deliveries(of goals: [DeliveryQuestion]) throws -> [Delivered]

    /// When a viewer saw campaigns that have caps, as far back as they ask. It blocks, too.
    ///
    /// - Parameter moment: milliseconds since 1970-01-01 UTC: nothing before it.
    func exposures(of viewer: String, since moment: Int64) throws -> [CampaignExposure]

    /// Tells what a process has given out and nobody has seen yet, and what the others have.
    func exchange(_ reservations: CampaignReservations, now: Int64) async throws -> OtherReservations
}

package struct DeliveryQuestion: Sendable, Hashable {
    package var campaign: String
    package var kind: LedgerEvent.Kind
    /// Milliseconds since 1970-01-01 UTC; a quarter of an hour begins then.
    package var day: Int64
}

package struct Delivered: Sendable, Hashable {
    package var total: Int64
    /// Since the day began.
    package var today: Int64

    package init(total: Int64 = 0, today: Int64 = 0) {
        (self.total, self.today) = (total, today)
    }
}

package struct CampaignExposure: Sendable, Hashable {
    package var campaign: String
    /// Milliseconds since 1970-01-01 UTC.
    package var at: Int64
    package var count: Int

    package init(campaign: String, at: Int64, count: Int) {
        (self.campaign, self.at, self.count) = (campaign, at, count)
    }
}

/// What one process has given out.
package struct CampaignReservations: Sendable {
    /// Names the process among those of one ledger.
    package var process: String
    package var counts: [String: Int]
    /// For how long they hold. Milliseconds.
    package var lifetime: Int64
}

/// What the other processes of the same ledger have given out.
package struct OtherReservations: Sendable, Hashable {
    package var counts: [String: Int]
    /// The other processes that give places to campaigns.
    package var processes: Int
    /// How many of them have names before this one's: no two processes have the same place among all.
    package var before: Int

    package init(counts: [String: Int] = [:], processes: Int = 0, before: Int = 0) {
        (self.counts, self.processes, self.before) = (counts, processes, before)
    }
}
