/// A weighted random selection of a campaign from a candidate list, for requests with equal targeting. It avoids an evaluation of all
/// campaigns for each slot.
/// The number of slots that campaigns of the priority got in the session selects a campaign, so that each one has its share of every
/// session. If that campaign cannot have the slot, for example because of a frequency cap or spacing, others are drawn at random. After 16
/// failed attempts, all candidates are evaluated. Each eligible campaign therefore wins in proportion to its share of the weights of all
/// eligible campaigns.
struct WeightedSelector: Sendable {
    /// The number of selectors that are kept.
    static let limit = 64

    struct SelectionKey: Hashable, Sendable {
        var slot: AdSlotContext
        var matchedTargeting: ContiguousArray<UInt64>
        var hasViewer: Bool
    }

    private typealias CumulativeWeight = (entry: Int32, sum: Float)

    private static let attempts = 16
    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    private let entries: ContiguousArray<Int32>
    private var tickets: ContiguousArray<CumulativeWeight> = []
    private var tiers: [(priority: Campaign.Priority, tickets: Range<Int>)] = []
    /// The version of the delivery snapshot that the tickets belong to; nil if they must be rebuilt.
    private var version: UInt64?

    init(_ candidateList: CampaignIndex.CandidateList, _ key: SelectionKey, of campaignIndex: CampaignIndex) {
        entries = ContiguousArray(
            candidateList.entries.indices.lazy.filter { index in
                let entry = candidateList.entries[index]
                guard key.hasViewer || !entry.hasCaps else { return false }
                return !entry.hasRules || AdDecision.obstacle(of: entry.rules, campaignIndex, key.matchedTargeting) == nil
            }.map { Int32(clamping: $0) })
    }

    mutating func choose(
        _ candidateList: CampaignIndex.CandidateList, _ delivery: AdDecision.DeliverySnapshot, seed: UInt64, turns: AdDistances,
        where fits: (CampaignIndex.CandidateList.Candidate) -> Bool
    ) -> (entry: Int, turn: UInt64)? {
        if version != delivery.version { build(candidateList, delivery) }
        func isEligible(_ entry: Int) -> Bool {
            delivery.obstacles[Int(candidateList.entries[entry].index)] == 0 && fits(candidateList.entries[entry])
        }
        for (priority, tier) in tiers {
            let turn = turns.turn(of: priority)
            let scheduled = scheduled(in: tier, turn: turn, seed: seed)
            if isEligible(scheduled.entry) { return scheduled }
            var hash = AdDecision.mix(seed &+ turn &* Self.step)
            for _ in 1..<Self.attempts {
                let entry = Int(tickets[winner(in: tier, by: hash)].entry)
                if isEligible(entry) { return (entry, turn) }
                hash = AdDecision.mix(hash)
            }
            if let entry = chooseOfAll(tier, candidateList, delivery, hash, where: fits) { return (entry, turn) }
        }
        return nil
    }

    /// The result depends on the number of the turn alone, so the page size and the reading direction do not change it.
    private func scheduled(in tier: Range<Int>, turn: UInt64, seed: UInt64) -> (entry: Int, turn: UInt64) {
        var (low, high, turn, phase) = (tier.lowerBound, tier.upperBound, turn, seed)
        while high - low > 1 {
            let middle = (low + high) / 2
            let start = low == tier.lowerBound ? 0 : tickets[low - 1].sum
            let (half, whole) = (tickets[middle - 1].sum - start, tickets[high - 1].sum - start)
            // The share and the phase are 32-bit fixed-point numbers. A turn belongs to the first half if a whole number lies between its multiple
            // of the share and the next.
            let share = whole > 0 ? UInt64(min(Double(half / whole), 1) * 0x1p32) : 0
            phase = AdDecision.mix(phase)
            let multiple = turn &* share &+ phase >> 32
            let before = multiple >> 32
            if (multiple &+ share) >> 32 == before {
                (low, turn) = (middle, turn &- before)
            } else {
                (high, turn) = (middle, before)
            }
        }
        return (Int(tickets[low].entry), turn)
    }

    private mutating func build(_ candidateList: CampaignIndex.CandidateList, _ delivery: AdDecision.DeliverySnapshot) {
        tickets.removeAll(keepingCapacity: true)
        tiers = []
        var (tier, start, sum): (UInt8, Int, Float) = (0, 0, 0)
        func finishTier() {
            guard start < tickets.count else { return }
            tiers.append((Campaign.Priority.allCases[Int(tier)], start..<tickets.count))
        }
        candidateList.entries.withUnsafeBufferPointer { all in
            for number in entries {
                let entry = all[Int(number)]
                guard delivery.obstacles[Int(entry.index)] == 0 else { continue }
                if entry.tier != tier {
                    finishTier()
                    (tier, start, sum) = (entry.tier, tickets.count, 0)
                }
                sum += entry.weight * delivery.urgency[Int(entry.index)]
                tickets.append((number, sum))
            }
        }
        finishTier()
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
