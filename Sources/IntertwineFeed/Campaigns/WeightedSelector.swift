/// What campaigns of a shelf have in the choice that requests of one sort get: a place is drawn for instead of asking all campaigns.
///
/// It is worked out once for each standing, by weights and paces. A campaign that is drawn and cannot have the place, because the viewer has seen
/// enough of it or the page has its like, is put back, and another one drawn; where that goes on, all are asked. So each campaign that can have
/// the place has it by its part of the weights of all that can.
struct WeightedSelector: Sendable {
    /// What requests have in common for which the same campaigns come into question.
    struct SelectionKey: Hashable, Sendable {
        var slot: AdSlotContext
        var matchedTargeting: ContiguousArray<UInt64>
        var hasViewer: Bool
    }

    private struct CumulativeWeight: Sendable {
        /// Among the shelf's entries.
        var entry: Int32
        /// Of the weights of its priority, with those before it.
        var sum: Float
    }

    /// How often is drawn before all are asked.
    private static let attempts = 16

    /// Those of the shelf that can be shown to such requests at all.
    private let entries: ContiguousArray<Int32>
    private var tickets: ContiguousArray<CumulativeWeight> = []
    /// One for each priority that has any.
    private var tiers: [Range<Int>] = []
    /// Of the standing; nil for one to be worked out anew.
    private var version: UInt64?

    init(_ shelf: CampaignIndex.CandidateList, _ sort: SelectionKey, of book: CampaignIndex) {
        entries = ContiguousArray(
            shelf.entries.indices.lazy.filter { index in
                let entry = shelf.entries[index]
                guard sort.hasViewer || !entry.hasCaps else { return false }
                return !entry.hasRules || AdDecision.obstacle(of: entry.rules, book, sort.matchedTargeting) == nil
            }.map { Int32(clamping: $0) })
    }

    /// One of the shelf's entries; nil where none can have the place.
    mutating func choose(
        _ shelf: CampaignIndex.CandidateList, _ standing: AdDecision.DeliverySnapshot, seed: UInt64,
        where fits: (CampaignIndex.CandidateList.Candidate) -> Bool
    ) -> Int? {
        if version != standing.version { build(shelf, standing) }
        for tier in tiers {
            var hash = seed
            for _ in 0..<Self.attempts {
                let entry = Int(tickets[winner(in: tier, by: hash)].entry)
                if standing.obstacles[Int(shelf.entries[entry].index)] == 0, fits(shelf.entries[entry]) { return entry }
                hash = AdDecision.mix(hash)
            }
            if let entry = chooseOfAll(tier, shelf, standing, hash, where: fits) { return entry }
        }
        return nil
    }

    private mutating func build(_ shelf: CampaignIndex.CandidateList, _ standing: AdDecision.DeliverySnapshot) {
        tickets.removeAll(keepingCapacity: true)
        tiers = []
        var (tier, start, sum): (UInt8, Int, Float) = (0, 0, 0)
        shelf.entries.withUnsafeBufferPointer { all in
            for number in entries {
                let entry = all[Int(number)]
                guard standing.obstacles[Int(entry.index)] == 0 else { continue }
                if entry.tier != tier {
                    if start < tickets.count { tiers.append(start..<tickets.count) }
                    (tier, start, sum) = (entry.tier, tickets.count, 0)
                }
                sum += entry.weight * standing.urgency[Int(entry.index)]
                tickets.append(CumulativeWeight(entry: number, sum: sum))
            }
        }
        if start < tickets.count { tiers.append(start..<tickets.count) }
        version = standing.version
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
        _ tier: Range<Int>, _ shelf: CampaignIndex.CandidateList, _ standing: AdDecision.DeliverySnapshot, _ hash: UInt64,
        where fits: (CampaignIndex.CandidateList.Candidate) -> Bool
    ) -> Int? {
        var (candidates, sum, gone): (ContiguousArray<CumulativeWeight>, Float, Int) = ([], 0, 0)
        for ticket in tickets[tier] {
            let entry = shelf.entries[Int(ticket.entry)]
            guard standing.obstacles[Int(entry.index)] == 0 else {
                gone += 1
                continue
            }
            guard fits(entry) else { continue }
            sum += entry.weight * standing.urgency[Int(entry.index)]
            candidates.append(CumulativeWeight(entry: ticket.entry, sum: sum))
        }
        // Most have left since it was worked out.
        if gone * 2 > tier.count { version = nil }
        let point = Float(hash >> 40) / Float(1 << 24) * sum
        return (candidates.first { $0.sum > point } ?? candidates.last).map { Int($0.entry) }
    }
}

/// The draws for the sorts of requests that there were since campaigns changed.
struct WeightedSelectorCache: Sendable {
    /// When there are more, all are worked out anew.
    private static let limit = 64

    private var draws: [WeightedSelector.SelectionKey: WeightedSelector] = [:]

    mutating func with<Value>(
        _ sort: WeightedSelector.SelectionKey, _ shelf: CampaignIndex.CandidateList, of book: CampaignIndex,
        _ body: (inout WeightedSelector) -> Value
    ) -> Value {
        if draws[sort] == nil {
            if draws.count >= Self.limit { draws = [:] }
            draws[sort] = WeightedSelector(shelf, sort, of: book)
        }
        return body(&draws[sort, default: WeightedSelector(shelf, sort, of: book)])
    }
}
