/// Who gets the places of one page: highest priority first, within it by weight and by how far behind its pace a campaign is.
///
/// Pure: the same campaigns, request, standing and seed give the same choice.
struct AdDecision {
    /// How campaigns stand at a moment, one entry for each of the book's.
    struct DeliverySnapshot: Sendable {
        /// Another one each time that it is worked out anew. In between, campaigns leave, and none joins but what was just given and taken back.
        var version: UInt64 = 0
        /// 0 for those that may be shown, or else the number of a ``IneligibilityReason``.
        var obstacles: ContiguousArray<UInt8> = []
        /// Places that may be given until the standing is looked at again.
        var room: ContiguousArray<Int32> = []
        /// 1, and more for those that are behind.
        var urgency: ContiguousArray<Float> = []
        /// Places that were given, here, and that nobody has seen yet.
        var reserved: ContiguousArray<GoalReservations.Count> = []
    }

    struct Choice: Sendable, Hashable {
        var campaign: Int
        var creative: Int32
    }

    /// A place, as far as distances and chance are concerned.
    struct Spot: Sendable {
        /// Content items of the page before it.
        var coordinate = 0
        /// Of the place in the session.
        var number: UInt64 = 0
    }

    /// What the viewer's caps still leave, by campaign; all of it where one is not among them.
    struct FrequencyCapAllowance: Sendable {
        var hasViewer: Bool
        var rooms: [Int32: Int] = [:]
    }

    private let book: CampaignIndex
    private let matchedTargeting: ContiguousArray<UInt64>
    private let caps: FrequencyCapAllowance
    /// What whoever has no name has and has not seen, by the address; nil for who has a name.
    private let anonymousReservations: [Int32: Int64]?
    private let seed: UInt64
    /// The one creative that is asked for; nil for a page, which shows any.
    private let only: Int32?
    /// Creatives that cannot be shown to whoever asks.
    private let banned: [Int32]
    private var distances: AdDistances
    private var served: [Int32: Int] = [:]

    init(
        _ book: CampaignIndex, matchedTargeting: ContiguousArray<UInt64>, caps: FrequencyCapAllowance, seed: UInt64,
        apart distances: AdDistances = AdDistances(),
        only: Int32? = nil, without banned: [Int32] = [], anonymousReservations: [Int32: Int64]? = nil
    ) {
        (self.book, self.matchedTargeting, self.caps, self.seed, self.anonymousReservations) = (
            book, matchedTargeting, caps, seed, anonymousReservations
        )
        (self.only, self.banned, self.distances) = (only, banned, distances)
    }

    /// Counts what other pages would have, as if it stood on this one.
    mutating func assume(_ places: [String: Int]) {
        for (campaign, count) in places { if let index = book.index(of: campaign) { served[Int32(index), default: 0] += count } }
    }

    /// The campaign and creative for a place, which are then taken.
    ///
    /// - Parameters:
    ///   - draw: of the shelf, for requests such as this.
    ///
    /// Why: multiples of an irrational number spread evenly, so that each campaign has its share of one session's places, and not of many
    /// sessions' places only. They depend on the place's number, so that the size of the pages changes nothing.
    mutating func choose(_ shelf: CampaignIndex.CandidateList, _ draw: inout WeightedSelector, for spot: Spot, _ standing: DeliverySnapshot)
        -> Choice?
    {
        let seeds = (seed &+ spot.number &* Self.steps.campaign, Self.mix(seed) &+ spot.number &* Self.steps.creative)
        let chosen = draw.choose(shelf, standing, seed: seeds.0) { obstacleOnPage($0, shelf, for: spot, standing) == nil }
        guard let entry = chosen.map({ shelf.entries[$0] }) else { return nil }
        let fitting = shelf.creatives[Int(entry.creatives.lowerBound)..<Int(entry.creatives.upperBound)].filter { fits($0, spot) }
        guard !fitting.isEmpty else { return nil }
        let creative = fitting[Int(((seeds.1 >> 32) * UInt64(fitting.count)) >> 32)]
        select(Choice(campaign: Int(entry.index), creative: creative), entry, for: spot)
        return Choice(campaign: Int(entry.index), creative: creative)
    }

    /// The fractional parts of the golden ratio and of the square root of 2, of 64 bits.
    private static let steps: (campaign: UInt64, creative: UInt64) = (0x9E37_79B9_7F4A_7C15, 0x6A09_E667_F3BC_C909)

    private func fits(_ creative: Int32, _ spot: Spot) -> Bool {
        !banned.contains(creative) && (only == nil || only == creative)
            && (distances.isEmpty || distances.permits(book.keys[Int(creative)], at: spot.coordinate))
    }

    mutating func select(_ choice: Choice, _ entry: CampaignIndex.CandidateList.Candidate, for spot: Spot) {
        distances.note(book.keys[Int(choice.creative)], labels: book.labels(of: choice.campaign), at: spot.coordinate)
        served[entry.index, default: 0] += 1
    }

    /// Why a campaign that stands on the shelf cannot have the place, as far as the request and the page go.
    func obstacle(
        _ entry: CampaignIndex.CandidateList.Candidate, _ shelf: CampaignIndex.CandidateList, for spot: Spot, _ standing: DeliverySnapshot
    ) -> IneligibilityReason? {
        if entry.hasRules, let obstacle = Self.obstacle(of: entry.rules, book, matchedTargeting) { return obstacle }
        return obstacleOnPage(entry, shelf, for: spot, standing)
    }

    /// The same as far as the request's attributes and languages have no say in it.
    private func obstacleOnPage(
        _ entry: CampaignIndex.CandidateList.Candidate, _ shelf: CampaignIndex.CandidateList, for spot: Spot, _ standing: DeliverySnapshot
    ) -> IneligibilityReason? {
        if let only, !entry.creatives.contains(where: { shelf.creatives[Int($0)] == only }) { return .notShown }
        if entry.hasCaps {
            guard caps.hasViewer else { return .noViewer }
            let room = caps.rooms.isEmpty ? nil : caps.rooms[entry.index]
            if (room ?? Int(entry.smallestCap)) <= (served.isEmpty ? 0 : served[entry.index] ?? 0) { return .capped }
        }
        if !served.isEmpty, standing.room[Int(entry.index)] <= served[entry.index] ?? 0 {
            // Without a pace it is the goal that is used up by the page.
            return book.campaigns[Int(entry.index)].pacing == .asap ? .reserved : .pacing
        }
        if let anonymousReservations, !isLeft(entry.index, to: anonymousReservations, standing) { return .reserved }
        if distances.isEmpty, banned.isEmpty { return nil }
        for label in entry.labels where !distances.permits(book.labels[Int(label)], at: spot.coordinate) { return .label }
        for index in entry.creatives where fits(shelf.creatives[Int(index)], spot) { return nil }
        let canBeShown = entry.creatives.contains { !banned.contains(shelf.creatives[Int($0)]) }
        return canBeShown ? .creativesShown : .notShown
    }

    /// Whether somebody without a name may have another place. Of those that a campaign has out for now, given and not seen or still to be
    /// given, all who have no name get half, and those of one address a quarter; one place they always do: who asks again and again, and sees
    /// nothing, leaves the others theirs.
    private func isLeft(_ campaign: Int32, to nameless: [Int32: Int64], _ standing: DeliverySnapshot) -> Bool {
        let room = standing.room[Int(campaign)]
        guard room < .max else { return true }
        let reserved = standing.reserved[Int(campaign)]
        let (out, here) = (Int64(room) + reserved.all, Int64(served[campaign] ?? 0))
        return reserved.nameless + here < max(1, out / 2) && (nameless[campaign] ?? 0) + here < max(1, out / 4)
    }

    /// Why a campaign is not shown to whom such conditions hold for.
    static func obstacle(of rules: CampaignIndex.Rules, _ book: CampaignIndex, _ holding: ContiguousArray<UInt64>) -> IneligibilityReason? {
        func holds(_ index: Int32) -> Bool {
            let number = Int(book.rules[Int(index)])
            return holding[number / 64] & (1 << UInt64(number % 64)) != 0
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
        var index = rules.any
        while index < rules.all {
            guard holds(index) else { return .attributes }
            index += 1
        }
        if isAnyHeld(rules.all, rules.none) { return .attributes }
        if rules.none < rules.locales, !isAnyHeld(rules.none, rules.locales) { return .locale }
        return nil
    }

    /// The same for the same text and number, in every process.
    static func seed(_ text: String?, _ numbers: UInt64...) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in (text ?? "").utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return numbers.reduce(mix(hash)) { mix($0 ^ $1) }
    }

    /// Every bit of the number has a say in every bit of the result.
    static func mix(_ number: UInt64) -> UInt64 {
        var mixed = number &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
