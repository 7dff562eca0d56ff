/// A weighted random selection of a campaign from a candidate list, for requests with equal targeting. It avoids an evaluation of all
/// campaigns for each slot.
///
/// The cumulative weights are computed once per delivery snapshot, from campaign weights and pacing. If the drawn campaign cannot have
/// the slot, for example because of a frequency cap or spacing, another one is drawn. After 16 failed draws, all candidates are
/// evaluated. Each eligible campaign therefore wins in proportion to its share of the weights of all eligible campaigns.
struct WeightedSelector: Sendable {
    /// The properties of requests that have the same candidates.
    struct SelectionKey: Hashable, Sendable {
        var slot: AdSlotContext
        var matchedTargeting: ContiguousArray<UInt64>
        var hasViewer: Bool
    }

    /// The index of a candidate in the candidate list, and the sum of the weights up to and including it, within its priority.
    private typealias CumulativeWeight = (entry: Int32, sum: Float)

    /// The number of draws before all candidates are evaluated.
    private static let attempts = 16

    /// The candidates that requests of this sort can show.
    private let entries: ContiguousArray<Int32>
    private var tickets: ContiguousArray<CumulativeWeight> = []
    /// The range of tickets of each priority that has any.
    private var tiers: [Range<Int>] = []
    /// The version of the delivery snapshot that the tickets belong to; nil if they must be rebuilt.
    private var version: UInt64?

    init(_ candidateList: CampaignIndex.CandidateList, _ sort: SelectionKey, of campaignIndex: CampaignIndex) {
        entries = ContiguousArray(
            candidateList.entries.indices.lazy.filter { index in
                let entry = candidateList.entries[index]
                guard sort.hasViewer || !entry.hasCaps else { return false }
                return !entry.hasRules || AdDecision.obstacle(of: entry.rules, campaignIndex, sort.matchedTargeting) == nil
            }.map { Int32(clamping: $0) })
    }

    /// Returns the index of a candidate; nil if none can have the slot.
    mutating func choose(
        _ candidateList: CampaignIndex.CandidateList, _ delivery: AdDecision.DeliverySnapshot, seed: UInt64,
        where fits: (CampaignIndex.CandidateList.Candidate) -> Bool
    ) -> Int? {
        if version != delivery.version { build(candidateList, delivery) }
        for tier in tiers {
            var hash = seed
            for _ in 0..<Self.attempts {
                let entry = Int(tickets[winner(in: tier, by: hash)].entry)
                if delivery.obstacles[Int(candidateList.entries[entry].index)] == 0, fits(candidateList.entries[entry]) { return entry }
                hash = AdDecision.mix(hash)
            }
            if let entry = chooseOfAll(tier, candidateList, delivery, hash, where: fits) { return entry }
        }
        return nil
    }

    private mutating func build(_ candidateList: CampaignIndex.CandidateList, _ delivery: AdDecision.DeliverySnapshot) {
        tickets.removeAll(keepingCapacity: true)
        tiers = []
        var (tier, start, sum): (UInt8, Int, Float) = (0, 0, 0)
        candidateList.entries.withUnsafeBufferPointer { all in
            for number in entries {
                let entry = all[Int(number)]
                guard delivery.obstacles[Int(entry.index)] == 0 else { continue }
                if entry.tier != tier {
                    if start < tickets.count { tiers.append(start..<tickets.count) }
                    (tier, start, sum) = (entry.tier, tickets.count, 0)
                }
                sum += entry.weight * delivery.urgency[Int(entry.index)]
                tickets.append((number, sum))
            }
        }
        if start < tickets.count { tiers.append(start..<tickets.count) }
        version = delivery.version
    }

    private func winner(in tier: Range<Int>, by hash: UInt64) -> Int {
        let point = Float(hash >> 40) / Float(1 << 24) * tickets[tier.upperBound - 1].sum
        var (low, high) = (tier.lowerBound, tier.upperBound - 1)
        while low < high {
            let middle = (low + high) / 2
            if tickets[middle].sum > point { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private mutating func chooseOfAll(
        _ tier: Range<Int>, _ candidateList: CampaignIndex.CandidateList, _ delivery: AdDecision.DeliverySnapshot, _ hash: UInt64,
        where fits: (CampaignIndex.CandidateList.Candidate) -> Bool
    ) -> Int? {
        var (candidates, sum, gone): (ContiguousArray<CumulativeWeight>, Float, Int) = ([], 0, 0)
        for ticket in tickets[tier] {
            let entry = candidateList.entries[Int(ticket.entry)]
            guard delivery.obstacles[Int(entry.index)] == 0 else {
                gone += 1
                continue
            }
            guard fits(entry) else { continue }
            sum += entry.weight * delivery.urgency[Int(entry.index)]
            candidates.append((ticket.entry, sum))
        }
        // If more than half of the tickets are ineligible, they are rebuilt.
        if gone * 2 > tier.count { version = nil }
        let point = Float(hash >> 40) / Float(1 << 24) * sum
        return (candidates.first { $0.sum > point } ?? candidates.last).map { Int($0.entry) }
    }
}

/// The selectors by sort of request, for one campaign index.
struct WeightedSelectorCache: Sendable {
    /// The maximum number of selectors. Beyond it, all are discarded.
    private static let limit = 64

    private var draws: [WeightedSelector.SelectionKey: WeightedSelector] = [:]

    mutating func with<Value>(
        _ sort: WeightedSelector.SelectionKey, _ candidateList: CampaignIndex.CandidateList, of campaignIndex: CampaignIndex,
        _ body: (inout WeightedSelector) -> Value
    ) -> Value {
        if draws[sort] == nil {
            if draws.count >= Self.limit { draws = [:] }
            draws[sort] = WeightedSelector(candidateList, sort, of: campaignIndex)
        }
        return body(&draws[sort, default: WeightedSelector(candidateList, sort, of: campaignIndex)])
    }
}
