internal import IntertwinePrimitives

struct AdDecision {
    struct DeliverySnapshot: Sendable {
        var version: UInt64 = 0
        var obstacles: ContiguousArray<UInt8> = []
        var room: ContiguousArray<Double> = []
        var weight: ContiguousArray<Double> = []
        var urgency: ContiguousArray<Float> = []
    }

    struct Choice: Sendable, Hashable {
        var campaign: Int
        var creative: Int32
    }

    private let campaignIndex: CampaignIndex
    private let matchedTargeting: ContiguousArray<UInt64>
    private let caps: [Int32: Int]?
    private let seed: UInt64
    private let only: Int32?
    private let banned: [Int32]
    private var distances: AdDistances
    private var served: [Int32: Int] = [:]

    init(
        _ campaignIndex: CampaignIndex, matchedTargeting: ContiguousArray<UInt64>, caps: [Int32: Int]?, seed: UInt64,
        apart distances: AdDistances = AdDistances(),
        only: Int32? = nil, without banned: [Int32] = []
    ) {
        (self.campaignIndex, self.matchedTargeting, self.caps, self.seed) = (campaignIndex, matchedTargeting, caps, seed)
        (self.only, self.banned, self.distances) = (only, banned, distances)
    }

    mutating func assume(_ counts: [String: Int]) {
        for (campaign, count) in counts { if let index = campaignIndex.index(of: campaign) { served[Int32(index), default: 0] += count } }
    }

    mutating func choose(
        _ candidateList: CampaignIndex.CandidateList, _ draw: inout WeightedSelector, at coordinate: Int, _ delivery: DeliverySnapshot
    )
        -> Choice?
    {
        let chosen = draw.choose(candidateList, delivery, seed: seed, turns: distances) {
            obstacleOnPage($0, candidateList, at: coordinate, delivery) == nil
        }
        guard let chosen else { return nil }
        let entry = candidateList.entries[chosen.entry]
        let creatives = candidateList.creatives[Int(entry.creatives.lowerBound)..<Int(entry.creatives.upperBound)]
        let fitting = creatives.filter { fits($0, coordinate) }
        guard !fitting.isEmpty else { return nil }
        let creative = fitting[Int((Self.mix(seed) >> 32 &+ chosen.turn) % UInt64(fitting.count))]
        select(Choice(campaign: Int(entry.index), creative: creative), entry, at: coordinate)
        return Choice(campaign: Int(entry.index), creative: creative)
    }

    private func fits(_ creative: Int32, _ coordinate: Int) -> Bool {
        !banned.contains(creative) && (only == nil || only == creative)
            && (distances.isEmpty || distances.permits(campaignIndex.keys[Int(creative)], at: coordinate))
    }

    mutating func select(_ choice: Choice, _ entry: CampaignIndex.CandidateList.Candidate, at coordinate: Int) {
        distances.note(
            campaignIndex.keys[Int(choice.creative)], of: campaignIndex.campaigns[choice.campaign].priority,
            labels: campaignIndex.labels(of: choice.campaign), at: coordinate)
        served[entry.index, default: 0] += 1
    }

    func obstacle(
        _ entry: CampaignIndex.CandidateList.Candidate, _ candidateList: CampaignIndex.CandidateList, at coordinate: Int,
        _ delivery: DeliverySnapshot
    ) -> IneligibilityReason? {
        if entry.hasRules, let obstacle = Self.obstacle(of: entry.rules, campaignIndex, matchedTargeting) { return obstacle }
        return obstacleOnPage(entry, candidateList, at: coordinate, delivery)
    }

    private func obstacleOnPage(
        _ entry: CampaignIndex.CandidateList.Candidate, _ candidateList: CampaignIndex.CandidateList, at coordinate: Int,
        _ delivery: DeliverySnapshot
    ) -> IneligibilityReason? {
        if let only, !entry.creatives.contains(where: { candidateList.creatives[Int($0)] == only }) { return .notShown }
        if entry.hasCaps {
            guard let caps else { return .noViewer }
            let room = caps.isEmpty ? nil : caps[entry.index]
            if (room ?? Int(entry.smallestCap)) <= (served.isEmpty ? 0 : served[entry.index] ?? 0) { return .capped }
        }
        if let taken = served[entry.index], taken > 0,
            delivery.room[Int(entry.index)] - Double(taken) * delivery.weight[Int(entry.index)] <= CampaignPacer.leastRoom
        {
            // Without pacing, only the goal limits the number of slots, and this page has used up the rest.
            return campaignIndex.campaigns[Int(entry.index)].pacing == .asap ? .underWay : .pacing
        }
        if distances.isEmpty, banned.isEmpty { return nil }
        for label in entry.labels where !distances.permits(campaignIndex.labels[Int(label)], at: coordinate) { return .label }
        for index in entry.creatives where fits(candidateList.creatives[Int(index)], coordinate) { return nil }
        let canBeShown = entry.creatives.contains { !banned.contains(candidateList.creatives[Int($0)]) }
        return canBeShown ? .creativesShown : .notShown
    }

    static func obstacle(of rules: CampaignIndex.Rules, _ campaignIndex: CampaignIndex, _ matchedTargeting: ContiguousArray<UInt64>)
        -> IneligibilityReason?
    {
        func holds(_ index: Int32) -> Bool {
            let number = Int(campaignIndex.rules[Int(index)])
            return matchedTargeting[number / 64] & (1 << UInt64(number % 64)) != 0
        }
        func isAnyHeld(_ from: Int32, _ to: Int32) -> Bool {
            var index = from
            while index < to {
                if holds(index) { return true }
                index += 1
            }
            return false
        }
        if rules.start < rules.any, !isAnyHeld(rules.start, rules.any) { return .attributes }
        if rules.any < rules.context, !isAnyHeld(rules.any, rules.context) { return .attributes }
        var index = rules.context
        while index < rules.all {
            guard holds(index) else { return .attributes }
            index += 1
        }
        if isAnyHeld(rules.all, rules.none) { return .attributes }
        if rules.none < rules.locales, !isAnyHeld(rules.none, rules.locales) { return .locale }
        return nil
    }

    static func seed(_ text: String?, _ numbers: UInt64...) -> UInt64 {
        numbers.reduce(mix(FNV1a.hash((text ?? "").utf8))) { mix($0 ^ $1) }
    }

    /// Mixes a number so that every input bit affects every output bit (SplitMix64).
    static func mix(_ number: UInt64) -> UInt64 { SplitMix64.mix(number &+ SplitMix64.increment) }
}
