/// What campaigns ask of a ledger. Implemented in Storage; without, what is delivered is known to the process alone, and forgotten with it.
///
/// All of it blocks: it is to be called on threads that may be blocked.
package protocol CampaignLedger: Sendable {
    /// When a viewer saw campaigns that have caps, as far back as they ask.
    ///
    /// - Parameter moment: milliseconds since 1970-01-01 UTC: nothing before it.
    func exposures(of viewer: String, since moment: Int64) throws -> [FrequencyCount]

    /// What other processes have given to a viewer of campaigns that have caps, as far as its time is not over; some of it may have been seen.
    func served(to viewer: String, besides process: String, now: Int64) throws -> [FrequencyCount]

    /// The page that a process gave a viewer and noted with a claim, as ``FrequencyCapReservation/page`` has it; nil where there is none.
    func page(_ key: Int64, of viewer: String, now: Int64) throws -> [UInt8]?

    /// Notes for the other processes what is given to a viewer of campaigns that have caps.
    ///
    /// - Returns: false, and nothing is noted, where another process has given the viewer something, or something of that is over, since it was
    ///   read.
    func claim(_ claim: FrequencyCapReservation) throws -> Bool

    /// What campaigns have delivered, in the order of the questions.
    func delivered(_ questions: [DeliveryQuery]) throws -> [DeliveryCount]

    /// Advertisements that campaigns of a file named, and that were there then.
    func knownCreatives() throws -> Set<CreativeID>

    /// Remembers such advertisements, for good.
    func remember(_ creatives: [CreativeID]) throws

    /// Whether other processes of the ledger give places to campaigns.
    func hasOthers(besides process: String, now: Int64) throws -> Bool

    /// Reads how goals stand, and writes what a process holds of them from then on, in one transaction in which no other process can.
    ///
    /// Commits of this process's events, whose completion is called before, are among what is delivered, and those whose completion is called
    /// after are not: who counts along in the completions counts nothing twice.
    ///
    /// - Parameter hold: what the process holds, in place of what it held before; called within the transaction, and again where that is done
    ///   anew. What it says must be safe also where the transaction is not committed in the end.
    func exchange(_ exchange: BudgetSyncRequest, _ hold: @escaping @Sendable (BudgetSyncState) -> SharedBudgetLeases) throws
}

package struct DeliveryQuery: Sendable, Hashable {
    package var campaign: String
    package var kind: LedgerEvent.Kind
    /// Milliseconds since 1970-01-01 UTC; a quarter of an hour begins then.
    package var day: Int64

    package init(campaign: String, kind: LedgerEvent.Kind, day: Int64) {
        (self.campaign, self.kind, self.day) = (campaign, kind, day)
    }
}

package struct DeliveryCount: Sendable, Hashable {
    package var total: Int64
    /// Since the day began.
    package var today: Int64

    package init(total: Int64 = 0, today: Int64 = 0) {
        (self.total, self.today) = (total, today)
    }
}

package struct FrequencyCount: Sendable, Hashable {
    package var campaign: String
    /// Milliseconds since 1970-01-01 UTC.
    package var at: Int64
    package var count: Int

    package init(campaign: String, at: Int64, count: Int) {
        (self.campaign, self.at, self.count) = (campaign, at, count)
    }
}

/// What a process gives to a viewer of campaigns that have caps.
package struct FrequencyCapReservation: Sendable {
    package var viewer: String
    package var process: String
    /// By campaign that has caps; where there is none, the page alone is noted, whatever others have given.
    package var counts: [String: Int]
    /// What stands for the page, and what all of its places were given to: whoever is asked for it gives the same.
    package var page: (key: Int64, given: [UInt8])
    /// Places that the others had given by then.
    package var known: Int
    /// Milliseconds since 1970-01-01 UTC.
    package var now: Int64
    package var until: Int64

    package init(
        viewer: String, process: String, counts: [String: Int], page: (key: Int64, given: [UInt8]) = (0, []), known: Int, now: Int64,
        until: Int64
    ) {
        (self.viewer, self.process, self.counts, self.page) = (viewer, process, counts, page)
        (self.known, self.now, self.until) = (known, now, until)
    }
}

/// What a process asks when it exchanges with the others.
package struct BudgetSyncRequest: Sendable {
    /// Names the process among those of one ledger.
    package var process: String
    package var questions: [DeliveryQuery]
    /// To be told to those that gave them.
    package var seen: [RemoteImpressions]
    /// Milliseconds since 1970-01-01 UTC.
    package var now: Int64
    /// For how long places that were given are held for those who may still see them. Milliseconds.
    package var lifetime: Int64
    /// For how long the process is taken to be there, and may give what it holds. Milliseconds.
    package var presence: Int64

    package init(
        process: String, questions: [DeliveryQuery] = [], seen: [RemoteImpressions] = [], now: Int64, lifetime: Int64, presence: Int64
    ) {
        (self.process, self.questions, self.seen) = (process, questions, seen)
        (self.now, self.lifetime, self.presence) = (now, lifetime, presence)
    }
}

/// How goals stand at one moment.
package struct BudgetSyncState: Sendable, Hashable {
    /// The answers, in the order of the questions.
    package var delivered: [DeliveryCount]
    /// What the other processes hold together, by campaign. What those that have gone might have given is in nobody's hand.
    package var others: [String: SharedBudgetLease]
    /// The other processes that give places to campaigns.
    package var processes: Int
    /// How many of them have names before this one's: no two processes have the same place among all.
    package var before: Int
    /// What this process has given and others have seen; it is told once. All of it is among what is delivered.
    package var seen: [RemoteImpressions]

    package init(
        delivered: [DeliveryCount], others: [String: SharedBudgetLease] = [:], processes: Int = 0, before: Int = 0,
        seen: [RemoteImpressions] = []
    ) {
        (self.delivered, self.others, self.processes, self.before) = (delivered, others, processes, before)
        self.seen = seen
    }
}

/// Places of a campaign that are a process's.
package struct SharedBudgetLease: Sendable, Hashable {
    /// Given out and not seen yet.
    package var served: Int
    /// To be given until the next exchange.
    package var allowed: Int

    package init(served: Int = 0, allowed: Int = 0) {
        (self.served, self.allowed) = (served, allowed)
    }
}

package struct SharedBudgetLeases: Sendable, Hashable {
    /// By campaign.
    package var counts: [String: SharedBudgetLease]
    /// False for a process that goes.
    package var isThere: Bool

    package init(_ counts: [String: SharedBudgetLease], isThere: Bool = true) {
        (self.counts, self.isThere) = (counts, isThere)
    }
}
