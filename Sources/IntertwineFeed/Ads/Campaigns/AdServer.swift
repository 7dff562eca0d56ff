internal import IntertwinePrimitives
import Synchronization

package final class AdServer: Sendable {
    struct State {
        var pacer: CampaignPacer?
        var selectors: [WeightedSelector.SelectionKey: WeightedSelector] = [:]
        /// The moment after which pages may wait for the ledger again; nil unless the last refresh failed.
        var retry: ContinuousClock.Instant?
        var decisions = BoundedCache<UInt64, Decision>(limit: 65_536)
        var offers = ViewerOffers()
    }

    struct Decision: Sendable {
        var served: [ServedAd?]
        var banned: [Int32]
        var at: Int64
    }

    /// The time in milliseconds for which a decision is repeated.
    static let lifetime: Int64 = 1_800_000
    private static let pause = Duration.milliseconds(500)

    private let ledger: (any CampaignLedger)?
    private let isShared: Bool
    private let tick: Int64
    private let state = Mutex(State())
    private let refreshing = Mutex(())

    package init(ledger: (any CampaignLedger)?, isShared: Bool = true, tick: Int64? = nil) {
        (self.ledger, self.tick) = (ledger, tick ?? CampaignPacer.tick)
        self.isShared = isShared && ledger != nil
    }

    /// The call may block, because it reads the ledger.
    package func choose(_ page: Page, of campaignIndex: CampaignIndex) throws -> [ServedAd?] {
        adopt(campaignIndex, now: page.now)
        let matchedTargeting = campaignIndex.matchedTargeting(page.targeting)
        let key = Self.key(of: page, matchedTargeting)
        let exposures = try self.exposures(campaignIndex, page)
        return state.withLock { state in
            guard var pacer = state.pacer, pacer.campaignIndex === campaignIndex else { return page.slots.map { _ in nil } }
            // The pacer is moved out and stored back below, so this is the only reference and no copy is made.
            state.pacer = nil
            defer { state.pacer = pacer }
            pacer.advance(to: page.now)
            // If any part of the earlier decision has ended, all slots are decided again.
            if page.banned.isEmpty, let known = Self.decision(key, state, at: page.now), known.served.count == page.slots.count,
                zip(known.served, page.slots).allSatisfy({ served, slot in
                    served.map { Self.isValid($0, at: slot, pacer, page.now) } ?? true
                })
            {
                return known.served
            }
            let caps = state.offers.room(of: campaignIndex, for: page.targeting.viewer, seen: exposures, now: page.now)
            var decision = AdDecision(
                campaignIndex, matchedTargeting: matchedTargeting, caps: caps, seed: Self.chance(of: page), apart: page.distances,
                only: page.only, without: page.banned)
            decision.assume(page.targeting.assumedServed)
            var served = [ServedAd?](repeating: nil, count: page.slots.count)
            for number in page.order {
                let slot = page.slots[number]
                let selectionKey = WeightedSelector.SelectionKey(
                    slot: slot, matchedTargeting: matchedTargeting, hasViewer: page.targeting.viewer != nil)
                let candidateList = campaignIndex.candidates(at: slot)
                if state.selectors[selectionKey] == nil, state.selectors.count >= WeightedSelector.limit { state.selectors = [:] }
                let choice = decision.choose(
                    candidateList,
                    &state.selectors[selectionKey, default: WeightedSelector(candidateList, selectionKey, of: campaignIndex)],
                    at: page.coordinate(of: number), pacer.current)
                guard let choice else { continue }
                let campaign = campaignIndex.campaigns[choice.campaign]
                served[number] = ServedAd(
                    campaign: campaign.id, creative: campaignIndex.creatives[Int(choice.creative)],
                    frequencyCapTTL: campaign.longestCapWindow, at: page.now)
            }
            // A decision without any ad is not stored, so a slot that becomes available can be used by the next request.
            guard page.targeting.allocates, served.contains(where: { $0 != nil }) else { return served }
            for one in served.compactMap(\.self) {
                if let index = campaignIndex.index(of: one.campaign) { pacer.offer(index, 1) }
                if one.frequencyCapTTL > 0, let viewer = page.targeting.viewer { state.offers.add(one.campaign, to: viewer, now: page.now) }
            }
            state.decisions[key] = Decision(served: served, banned: page.banned, at: page.now)
            return served
        }
    }

    private static func decision(_ key: UInt64, _ state: borrowing State, at now: Int64) -> Decision? {
        state.decisions.peek(key).flatMap { $0.at <= now && now < $0.at &+ lifetime ? $0 : nil }
    }

    /// Takes slots back that were just chosen, because their creatives cannot be shown on the page.
    package func withdraw(_ served: [ServedAd], _ page: Page) {
        guard page.targeting.allocates else { return }
        state.withLock { state in
            for served in served {
                if let index = state.pacer?.campaignIndex.index(of: served.campaign) { state.pacer?.offer(index, -1) }
                if served.frequencyCapTTL > 0, let viewer = page.targeting.viewer { state.offers.remove(served.campaign, of: viewer) }
            }
        }
    }

    func banned(on page: Page, of campaignIndex: CampaignIndex) -> [Int32]? {
        let key = Self.key(of: page, campaignIndex.matchedTargeting(page.targeting))
        return state.withLock { Self.decision(key, $0, at: page.now)?.banned }
    }

    private static func seed(of page: Page) -> UInt64 {
        AdDecision.seed(
            page.targeting.viewer, UInt64(page.identity), UInt64(bitPattern: page.targeting.moment), UInt64(page.slots.count),
            page.slots.first?.layout == .table ? 1 : 0)
    }

    private static func chance(of page: Page) -> UInt64 {
        page.distances.chance == 0 ? seed(of: page) : AdDecision.mix(UInt64(page.distances.chance))
    }

    private static func key(of page: Page, _ matchedTargeting: ContiguousArray<UInt64>) -> UInt64 {
        matchedTargeting.reduce(seed(of: page)) { AdDecision.mix($0 ^ $1) }
    }

    private static func isValid(_ served: ServedAd, at slot: AdSlotContext, _ pacer: CampaignPacer, _ now: Int64) -> Bool {
        guard let index = pacer.campaignIndex.index(of: served.campaign), pacer.campaignIndex.number(of: served.creative) != nil else {
            return false
        }
        let obstacle = IneligibilityReason(rawValue: pacer.current.obstacles[index])
        guard obstacle != .goalReached, obstacle != .dailyGoalReached else { return false }
        return pacer.campaignIndex.obstacle(of: index, at: slot) == nil && pacer.campaignIndex.campaigns[index].isRunning(at: now)
    }

    /// The completion of each commit must call this method.
    package func eventsDidCommit(_ events: [LedgerEvent], _ verdicts: [Verdict]) {
        guard events.contains(where: { $0.impressionContext?.campaign != nil }) else { return }
        state.withLock { state in
            for (event, verdict) in zip(events, verdicts) where verdict.isAccepted {
                guard let campaign = event.impressionContext?.campaign else { continue }
                if let index = state.pacer?.campaignIndex.index(of: campaign) { state.pacer?.didCommit(index, event, verdict) }
                if event.kind == .impression, let viewer = event.viewer { state.offers.remove(campaign, of: viewer) }
            }
        }
    }

    // MARK: The ledger

    /// The call may block.
    package func refresh(now: Int64) throws { try refresh(now: now, adds: true) { _ in true } }

    /// A page adds no offers, because it must not wait for a write.
    private func refresh(now: Int64, adds: Bool, if isNeeded: (borrowing State) -> Bool) throws {
        guard let ledger else { return }
        try refreshing.withLock { _ in
            // Another thread may have refreshed in the meantime.
            guard state.withLock({ isNeeded($0) }), let work = state.withLock({ $0.pacer?.beginRefresh(at: now, adds: adds) }) else {
                return
            }
            do {
                let answer = try ledger.refresh(adding: work.offers, work.queries, now: now)
                // The campaign index may have been replaced. The state of each campaign has moved to the new one.
                state.withLock { state in
                    state.pacer?.adopt(answer, of: work.queries, at: now)
                    state.retry = nil
                }
            } catch {
                state.withLock { state in
                    state.pacer?.cancelRefresh()
                    state.retry = .now + Self.pause
                }
                throw error
            }
        }
    }

    /// The call may block.
    package func begin(_ campaignIndex: CampaignIndex, now: Int64) throws {
        state.withLock { state in
            guard state.pacer?.campaignIndex !== campaignIndex else { return }
            var pacer = CampaignPacer(campaignIndex, isShared: isShared, tick: tick)
            state.selectors = [:]
            if let old = state.pacer { pacer.migrate(from: old) }
            state.pacer = pacer
        }
        func isBlind(_ state: borrowing State) -> Bool {
            guard state.pacer?.needsCounts(at: now) ?? false else { return false }
            return state.retry.map { $0 <= .now } ?? true
        }
        if state.withLock({ isBlind($0) }) { try refresh(now: now, adds: false, if: isBlind) }
    }

    package var processes: Int { state.withLock { $0.pacer?.processes ?? 1 } }

    /// The progress as this process knows it, without a read of the ledger.
    package func progress(now: Int64) -> [CampaignProgress] {
        state.withLock { state in
            state.pacer?.advance(to: now)
            guard let pacer = state.pacer else { return [] }
            return pacer.campaignIndex.campaigns.indices.map { pacer.progress($0, at: now) }
        }
    }

    /// The call may block.
    package func progress(of campaignIndex: CampaignIndex, now: Int64) -> [CampaignProgress] {
        adopt(campaignIndex, now: now)
        // An event that was committed during the last refresh may be in its counts and in those of this process.
        try? refresh(now: now)
        var progress = state.withLock { state -> [CampaignProgress] in
            state.pacer?.advance(to: now, isAtOnce: true)
            guard let pacer = state.pacer, pacer.campaignIndex === campaignIndex else { return [] }
            return campaignIndex.campaigns.indices.map { pacer.progress($0, at: now) }
        }
        // The pacer has no counts for campaigns without a goal, so the ledger provides them.
        let others = progress.indices.filter { progress[$0].delivered == nil }
        for (index, delivered) in zip(others, delivered(others.map { progress[$0].campaign }, now: now)) {
            progress[index].delivered = delivered
        }
        return progress
    }

    /// The call may block.
    package func delivered(_ campaigns: [Campaign], now: Int64) -> [DeliveryCount] {
        guard let ledger, !campaigns.isEmpty else { return [] }
        return (try? ledger.refresh(adding: [:], campaigns.map { DeliveryQuery($0, at: now) }, now: now).counts) ?? []
    }

    package func explain(_ page: Page, of campaignIndex: CampaignIndex, served: [ServedAd?]) throws -> [[IneligibilityReason?]] {
        adopt(campaignIndex, now: page.now)
        let matchedTargeting = campaignIndex.matchedTargeting(page.targeting)
        let exposures = try self.exposures(campaignIndex, page)
        return state.withLock { state in
            state.pacer?.advance(to: page.now)
            guard let pacer = state.pacer, pacer.campaignIndex === campaignIndex else { return [] }
            let caps = state.offers.room(of: campaignIndex, for: page.targeting.viewer, seen: exposures, now: page.now)
            var decision = AdDecision(
                campaignIndex, matchedTargeting: matchedTargeting, caps: caps, seed: 0, apart: page.distances, without: page.banned)
            decision.assume(page.targeting.assumedServed)
            var explained = [[IneligibilityReason?]](repeating: [], count: page.slots.count)
            for number in page.order {
                let (slot, served, coordinate) = (page.slots[number], served[number], page.coordinate(of: number))
                let candidateList = campaignIndex.candidates(at: slot)
                var reasons: [IneligibilityReason?] = campaignIndex.campaigns.indices.map { index in
                    campaignIndex.obstacle(of: index, at: slot) ?? IneligibilityReason(rawValue: pacer.current.obstacles[index])
                }
                for entry in candidateList.entries where reasons[Int(entry.index)] == nil {
                    reasons[Int(entry.index)] = decision.obstacle(entry, candidateList, at: coordinate, pacer.current) ?? .lost
                }
                if let served, let index = campaignIndex.index(of: served.campaign) {
                    reasons[index] = nil
                    if let entry = candidateList.entries.first(where: { $0.index == index }),
                        let creative = campaignIndex.creatives.firstIndex(of: served.creative)
                    {
                        decision.select(AdDecision.Choice(campaign: index, creative: Int32(creative)), entry, at: coordinate)
                    }
                }
                explained[number] = reasons
            }
            return explained
        }
    }

    /// The call may block if the counts of a goal are unknown.
    private func adopt(_ campaignIndex: CampaignIndex, now: Int64) {
        // If the ledger cannot be read, the page is served without the campaigns whose delivery is unknown.
        try? begin(campaignIndex, now: now)
    }

    private func exposures(_ campaignIndex: CampaignIndex, _ page: Page) throws -> [FrequencyCount] {
        guard campaignIndex.hasCaps, let viewer = page.targeting.viewer, let ledger else { return [] }
        let seen = try ledger.exposures(of: viewer, since: page.now - Int64(campaignIndex.longestCapWindow) * 1_000)
        // Impressions in the future were recorded by a clock that was ahead.
        return seen.filter { $0.at <= page.now + CellTokens.skew }
    }
}

extension AdServer {
    package struct ServedAd: Sendable, Hashable {
        package var campaign: String
        package var creative: CreativeID
        package var frequencyCapTTL: Int
        /// The moment of the decision in milliseconds since 1970-01-01 UTC.
        package var at: Int64
    }

    package struct Page: Sendable {
        package var slots: [AdSlotContext]
        package var identity: UInt32
        package var targeting: TargetingContext
        var now: Int64
        var only: Int32?
        package var banned: [Int32] = []
        package var coordinates: [Int] = []
        package var distances = AdDistances()

        package init(slots: [AdSlotContext], identity: UInt32, targeting: TargetingContext, now: Int64, only: Int32? = nil) {
            (self.slots, self.identity, self.targeting, self.now, self.only) = (slots, identity, targeting, now, only)
        }

        var order: [Int] { distances.isBackward ? slots.indices.reversed() : Array(slots.indices) }

        func coordinate(of slot: Int) -> Int { coordinates.indices.contains(slot) ? coordinates[slot] : 0 }
    }
}
