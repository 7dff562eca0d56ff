/// The part of a ledger that campaigns need. Storage implements it. Without a ledger, delivery counts exist in this process only and are
/// lost when it exits.
///
/// All methods block. They must be called on threads that may block.
package protocol CampaignLedger: Sendable {
    /// Returns the viewer's impressions of campaigns with frequency caps.
    ///
    /// - Parameter moment: The earliest impression to return, in milliseconds since 1970-01-01 UTC.
    func exposures(of viewer: String, since moment: Int64) throws -> [FrequencyCount]

    /// Returns the unexpired slots that other processes reserved for a viewer, for campaigns with frequency caps. Some of the slots may
    /// already have an impression.
    func served(to viewer: String, besides process: String, now: Int64) throws -> [FrequencyCount]

    /// Returns the page that a process recorded for a viewer with a claim, in the form of ``FrequencyCapReservation/page``; nil without one.
    func page(_ key: Int64, of viewer: String, now: Int64) throws -> [UInt8]?

    /// Records for other processes which slots are reserved for a viewer, for campaigns with frequency caps.
    ///
    /// - Returns: True if the claim was recorded. False, without any effect, if another process reserved slots for the viewer since the read,
    ///   or if a reservation has expired since.
    func claim(_ claim: FrequencyCapReservation) throws -> Bool

    /// Returns the delivery counts of campaigns, in the order of the queries.
    func delivered(_ questions: [DeliveryQuery]) throws -> [DeliveryCount]

    /// Returns the ads that campaigns of a file have named and that existed at that time.
    func knownCreatives() throws -> Set<CreativeID>

    /// Remembers existing ads that campaigns of a file name. The record is permanent.
    func remember(_ creatives: [CreativeID]) throws

    /// True if other processes of the ledger serve ads for campaigns.
    func hasOthers(besides process: String, now: Int64) throws -> Bool

    /// Reads the delivery counts of goals and writes the leases of a process, in one transaction that excludes all other processes.
    ///
    /// The counts include the commits of this process whose completion was called before, and exclude those whose completion is called later.
    /// A process that also counts in the completions therefore counts each event once.
    ///
    /// - Parameter hold: Returns the leases that replace the previous ones of the process. The closure runs within the transaction, and again
    ///   if the transaction is retried. The leases must be safe even if the transaction is not committed.
    func exchange(_ exchange: BudgetSyncRequest, _ hold: @escaping @Sendable (BudgetSyncState) -> SharedBudgetLeases) throws
}

package struct DeliveryQuery: Sendable, Hashable {
    package var campaign: String
    package var kind: LedgerEvent.Kind
    /// The start of the day in milliseconds since 1970-01-01 UTC. It is the start of a quarter of an hour.
    package var day: Int64

    package init(campaign: String, kind: LedgerEvent.Kind, day: Int64) {
        (self.campaign, self.kind, self.day) = (campaign, kind, day)
    }
}

package struct DeliveryCount: Sendable, Hashable {
    package var total: Int64
    /// The count since the start of the day.
    package var today: Int64

    package init(total: Int64 = 0, today: Int64 = 0) {
        (self.total, self.today) = (total, today)
    }
}

package struct FrequencyCount: Sendable, Hashable {
    package var campaign: String
    /// The moment of the impression or reservation, in milliseconds since 1970-01-01 UTC.
    package var at: Int64
    package var count: Int

    package init(campaign: String, at: Int64, count: Int) {
        (self.campaign, self.at, self.count) = (campaign, at, count)
    }
}

/// The slots that a process reserves for a viewer, for campaigns with frequency caps.
package struct FrequencyCapReservation: Sendable {
    package var viewer: String
    package var process: String
    /// The number of slots for each campaign with caps. If it is empty, only the page is recorded, without a check of other reservations.
    package var counts: [String: Int]
    /// The key of the page and the allocation of all its slots. Other processes that serve the page use this allocation.
    package var page: (key: Int64, served: [UInt8])
    /// The number of slots that other processes had reserved for the viewer when they were read.
    package var known: Int
    /// The moment of the reservation in milliseconds since 1970-01-01 UTC. `until` is its expiry.
    package var now: Int64
    package var until: Int64

    package init(
        viewer: String, process: String, counts: [String: Int], page: (key: Int64, served: [UInt8]) = (0, []), known: Int, now: Int64,
        until: Int64
    ) {
        (self.viewer, self.process, self.counts, self.page) = (viewer, process, counts, page)
        (self.known, self.now, self.until) = (known, now, until)
    }
}

/// The input of an exchange of leases with the other processes.
package struct BudgetSyncRequest: Sendable {
    /// The name of the process, unique among the processes of the ledger.
    package var process: String
    package var questions: [DeliveryQuery]
    /// The impressions of slots that other processes reserved. The exchange reports them to those processes.
    package var seen: [RemoteImpressions]
    /// The current time in milliseconds since 1970-01-01 UTC.
    package var now: Int64
    /// The lifetime of a reservation, in milliseconds.
    package var lifetime: Int64
    /// The time in milliseconds for which the leases of the process are valid and the process counts as present.
    package var presence: Int64

    package init(
        process: String, questions: [DeliveryQuery] = [], seen: [RemoteImpressions] = [], now: Int64, lifetime: Int64, presence: Int64
    ) {
        (self.process, self.questions, self.seen) = (process, questions, seen)
        (self.now, self.lifetime, self.presence) = (now, lifetime, presence)
    }
}

/// The delivery state of goals at the moment of an exchange.
package struct BudgetSyncState: Sendable, Hashable {
    /// The delivery counts, in the order of the queries.
    package var delivered: [DeliveryCount]
    /// The sum of the leases of the other processes, by campaign. The unused leases of a process that has left are released.
    package var others: [String: SharedBudgetLease]
    /// The number of other processes that serve ads for campaigns.
    package var processes: Int
    /// The number of other processes whose name sorts before this one. It gives each process a unique rank.
    package var before: Int
    /// The slots of this process whose impressions other processes received. Each impression is reported once and is included in `delivered`.
    package var seen: [RemoteImpressions]

    package init(
        delivered: [DeliveryCount], others: [String: SharedBudgetLease] = [:], processes: Int = 0, before: Int = 0,
        seen: [RemoteImpressions] = []
    ) {
        (self.delivered, self.others, self.processes, self.before) = (delivered, others, processes, before)
        self.seen = seen
    }
}

/// The lease of one process on one campaign's goal.
package struct SharedBudgetLease: Sendable, Hashable {
    /// The number of reserved slots without an impression.
    package var served: Int
    /// The number of slots that the process may serve until the next exchange.
    package var allowed: Int

    package init(served: Int = 0, allowed: Int = 0) {
        (self.served, self.allowed) = (served, allowed)
    }
}

package struct SharedBudgetLeases: Sendable, Hashable {
    /// The leases by campaign id.
    package var counts: [String: SharedBudgetLease]
    /// A Boolean value indicating whether the process stays present; false at shutdown.
    package var isThere: Bool

    package init(_ counts: [String: SharedBudgetLease], isThere: Bool = true) {
        (self.counts, self.isThere) = (counts, isThere)
    }
}
