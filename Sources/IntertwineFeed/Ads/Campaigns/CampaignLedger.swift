/// They must be called on threads that may block.
package protocol CampaignLedger: Sendable {
    func exposures(of viewer: String, since moment: Int64) throws -> [FrequencyCount]

    func served(to viewer: String, besides process: String, now: Int64) throws -> [FrequencyCount]

    func page(_ key: Int64, of viewer: String, now: Int64) throws -> [UInt8]?

    func claim(_ claim: FrequencyCapReservation) throws -> Bool

    func delivered(_ questions: [DeliveryQuery]) throws -> [DeliveryCount]

    func knownCreatives() throws -> Set<CreativeID>

    func remember(_ creatives: [CreativeID]) throws

    func hasOthers(besides process: String, now: Int64) throws -> Bool

    /// The counts include the commits of this process whose completion was called before, and exclude those whose completion is called
    /// later. A process that also counts in the completions therefore counts each event once.
    /// The leases must be safe even if the transaction is not committed.
    func exchange(_ exchange: BudgetSyncRequest, _ hold: @escaping @Sendable (BudgetSyncState) -> SharedBudgetLeases) throws
}

package struct DeliveryQuery: Sendable, Hashable {
    package var campaign: String
    package var kind: LedgerEvent.Kind
    /// The start of the day in milliseconds since 1970-01-01 UTC.
    package var day: Int64

    package init(campaign: String, kind: LedgerEvent.Kind, day: Int64) {
        (self.campaign, self.kind, self.day) = (campaign, kind, day)
    }
}

package struct DeliveryCount: Sendable, Hashable {
    package var total: Int64
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

package struct FrequencyCapReservation: Sendable {
    package var viewer: String
    package var process: String
    package var counts: [String: Int]
    package var page: (key: Int64, served: [UInt8])
    package var known: Int
    /// The moment of the reservation in milliseconds since 1970-01-01 UTC.
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

package struct BudgetSyncRequest: Sendable {
    package var process: String
    package var questions: [DeliveryQuery]
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

package struct BudgetSyncState: Sendable, Hashable {
    package var delivered: [DeliveryCount]
    package var others: [String: SharedBudgetLease]
    package var processes: Int
    package var before: Int
    package var seen: [RemoteImpressions]

    package init(
        delivered: [DeliveryCount], others: [String: SharedBudgetLease] = [:], processes: Int = 0, before: Int = 0,
        seen: [RemoteImpressions] = []
    ) {
        (self.delivered, self.others, self.processes, self.before) = (delivered, others, processes, before)
        self.seen = seen
    }
}

package struct SharedBudgetLease: Sendable, Hashable {
    package var served: Int
    package var allowed: Int

    package init(served: Int = 0, allowed: Int = 0) {
        (self.served, self.allowed) = (served, allowed)
    }
}

package struct SharedBudgetLeases: Sendable, Hashable {
    package var counts: [String: SharedBudgetLease]
    package var isThere: Bool

    package init(_ counts: [String: SharedBudgetLease], isThere: Bool = true) {
        (self.counts, self.isThere) = (counts, isThere)
    }
}
