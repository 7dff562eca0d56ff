import Synchronization

/// An ad server that allocates the slots of pages to campaigns and enforces goals and frequency caps.
package final class AdServer: Sendable {
    struct State {
        var deliveryState: DeliveryState?
        var draws = WeightedSelectorCache()
        /// The moment after which pages may wait for an exchange again; nil unless the last exchange failed.
        var retry: ContinuousClock.Instant?
        var isShutDown = false
        var recentDecisions = RecentDecisions()
        var pending = UncommittedImpressions()
    }

    let ledger: (any CampaignLedger)?
    let process: String
    /// The time in milliseconds for which an allocated slot counts as delivered without an impression.
    package let lifetime: Int64
    let isShared: Bool
    private let tick: Int64
    let state = Mutex(State())
    private let mayWrite: @Sendable (TargetingContext, Int64) -> Bool
    let limited = Atomic(0)
    private let loadLock = Mutex(())

    /// The maximum number of decisions for a page, because another process may serve ads to the viewer in the meantime.
    private static let attempts = 8
    private static let pause = Duration.milliseconds(500)

    package init(
        ledger: (any CampaignLedger)?, process: String, lifetime: Int64, isShared: Bool = true, tick: Int64? = nil,
        mayWrite: @escaping @Sendable (TargetingContext, Int64) -> Bool = { _, _ in true }
    ) {
        (self.ledger, self.process, self.lifetime, self.mayWrite) = (ledger, process, lifetime, mayWrite)
        self.tick = tick ?? DeliveryState.tick
        self.isShared = isShared && ledger != nil
    }

    /// The call may block, because it reads the ledger.
    package func allocate(_ page: Page, of campaignIndex: CampaignIndex) throws -> [ServedAd?] {
        adopt(campaignIndex, now: page.now)
        let holding = campaignIndex.matchedTargeting(page.facts)
        let key = Self.key(of: page, holding)
        for attempt in 0..<Self.attempts {
            // After a failed claim, another process has served ads to this viewer, so the ledger must be read.
            let exposures = try self.exposures(campaignIndex, page, readsOthers: attempt > 0)
            if let allocated = try adopted(page, key, of: campaignIndex, exposures) { return allocated }
            let (allocated, isNew) = allocate(page, holding, key, of: campaignIndex, exposures)
            guard isNew, let ledger, let claim = claim(allocated, page, key, of: campaignIndex, exposures) else { return allocated }
            guard mayWrite(page.facts, page.now) else {
                limited.add(1, ordering: .relaxed)
                return releaseUnrecorded(allocated, page, key, of: campaignIndex)
            }
            if try ledger.claim(claim) { return allocated }
            // Another process served ads to the viewer between the read and the claim.
            release(allocated.compactMap(\.self), page)
            state.withLock { $0.recentDecisions.forget(key) }
        }
        return page.slots.map { _ in nil }
    }

    func hasAllocated(_ page: Page, of campaignIndex: CampaignIndex) throws -> Bool {
        let key = Self.key(of: page, campaignIndex.matchedTargeting(page.facts))
        if state.withLock({ $0.recentDecisions[key] != nil }) { return true }
        guard isShared, let viewer = page.facts.viewer, let ledger else { return false }
        return try ledger.page(Int64(bitPattern: key), of: viewer, now: page.now) != nil
    }

    func banned(on page: Page, of campaignIndex: CampaignIndex) -> [Int32] {
        let key = Self.key(of: page, campaignIndex.matchedTargeting(page.facts))
        return state.withLock { $0.recentDecisions.banned[key] } ?? []
    }

    private static func seed(of page: Page) -> UInt64 {
        AdDecision.seed(
            page.facts.viewer, UInt64(page.identity), UInt64(bitPattern: page.facts.moment), UInt64(page.slots.count),
            page.slots.first?.layout == .table ? 1 : 0)
    }

    private static func chance(of page: Page) -> UInt64 {
        page.distances.chance == 0 ? seed(of: page) : AdDecision.mix(UInt64(page.distances.chance))
    }

    private static func key(of page: Page, _ holding: ContiguousArray<UInt64>) -> UInt64 {
        holding.reduce(seed(of: page)) { AdDecision.mix($0 ^ $1) }
    }

    private func allocate(
        _ page: Page, _ holding: ContiguousArray<UInt64>, _ key: UInt64, of campaignIndex: CampaignIndex, _ exposures: ViewerFrequency
    ) -> (allocated: [ServedAd?], isNew: Bool) {
        state.withLock { state in
            guard var deliveryState = state.deliveryState, deliveryState.campaignIndex === campaignIndex else {
                return (page.slots.map { _ in nil }, false)
            }
            // The state is moved out and stored back below, so this is the only reference and no copy is made.
            state.deliveryState = nil
            defer { state.deliveryState = deliveryState }
            deliveryState.advance(to: page.now)
            // If any part of the earlier allocation is gone or has ended, all slots are allocated again.
            if page.banned.isEmpty, var stored = state.recentDecisions[key], stored.count == page.slots.count,
                zip(stored, page.slots).allSatisfy({ allocated, slot in
                    allocated.map { Self.isValid($0, at: slot, deliveryState, page.now) } ?? true
                })
            {
                if page.facts.allocates, renew(&stored, &deliveryState, now: page.now) {
                    state.recentDecisions.store(stored, as: key, now: page.now, lifetime: lifetime)
                }
                return (stored, false)
            }
            let caps = exposures.room(of: campaignIndex, for: page.facts.viewer, besides: state.pending, now: page.now)
            // An anonymous viewer always has a nonzero address; an unknown address counts as 1.
            let address = page.facts.viewer == nil ? max(1, page.facts.address) : 0
            var decision = AdDecision(
                campaignIndex, matchedTargeting: holding, caps: caps, seed: Self.chance(of: page), apart: page.distances, only: page.only,
                without: page.banned,
                anonymousReservations: address == 0 ? nil : deliveryState.reserved(by: address))
            decision.assume(page.facts.assumedServed)
            var allocated = [ServedAd?](repeating: nil, count: page.slots.count)
            for number in page.order {
                let slot = page.slots[number]
                let sort = WeightedSelector.SelectionKey(slot: slot, matchedTargeting: holding, hasViewer: page.facts.viewer != nil)
                let candidateList = campaignIndex.candidates(at: slot)
                let choice = state.draws.with(sort, candidateList, of: campaignIndex) {
                    decision.choose(candidateList, &$0, at: page.coordinate(of: number), deliveryState.current)
                }
                guard let choice else { continue }
                let campaign = campaignIndex.campaigns[choice.campaign]
                allocated[number] = ServedAd(
                    campaign: campaign.id, creative: campaignIndex.creatives[Int(choice.creative)], remembered: campaign.longestCapWindow,
                    served: page.now)
            }
            guard page.facts.allocates else { return (allocated, false) }
            for number in allocated.indices {
                guard let one = allocated[number] else { continue }
                if let index = campaignIndex.index(of: one.campaign),
                    let reservation = deliveryState.reserve(index, for: address, at: page.now)
                {
                    allocated[number]?.reservation = reservation
                    allocated[number]?.ends = page.now &+ lifetime
                }
                if one.remembered > 0, let viewer = page.facts.viewer {
                    state.pending.add(one.campaign, to: viewer, now: page.now, lifetime: lifetime)
                }
            }
            // An allocation without any ad is not stored, so a slot that becomes available can be used by the next request.
            if allocated.contains(where: { $0 != nil }) {
                state.recentDecisions.store(allocated, as: key, besides: page.banned, now: page.now, lifetime: lifetime)
            }
            return (allocated, true)
        }
    }

    /// Frees slots that were just allocated, because their creatives cannot be shown on the page.
    package func release(_ allocated: [ServedAd], _ page: Page) {
        guard page.facts.allocates else { return }
        state.withLock { state in
            for allocated in allocated {
                if let index = state.deliveryState?.campaignIndex.index(of: allocated.campaign) {
                    state.deliveryState?.undoReservation(index, allocated.reservation)
                }
                if allocated.remembered > 0, let viewer = page.facts.viewer { state.pending.remove(allocated.campaign, of: viewer) }
            }
        }
    }

    /// The completion of each commit must call this method.
    package func eventsDidCommit(_ events: [LedgerEvent], _ verdicts: [Verdict]) {
        guard events.contains(where: { $0.showing?.campaign != nil }) else { return }
        state.withLock { state in
            for (event, verdict) in zip(events, verdicts) where verdict.isAccepted {
                guard let showing = event.showing, let campaign = showing.campaign else { continue }
                if let index = state.deliveryState?.campaignIndex.index(of: campaign) {
                    state.deliveryState?.didCommit(index, event.kind, showing.reservation, isCounted: verdict == .counted)
                }
                if event.kind == .impression, let viewer = event.viewer { state.pending.remove(campaign, of: viewer) }
            }
        }
    }

    /// The call may block.
    package func exchange(now: Int64) throws {
        guard isShared, let ledger else { return }
        let due = state.withLock { state -> DeliveryState.Exchange in
            let due = state.isShutDown ? .nothing : state.deliveryState?.exchange(at: now) ?? .nothing
            if due == .nothing { state.deliveryState?.resetPeers() }
            return due
        }
        switch due {
        case .nothing: return
        case .readOnly: if try ledger.hasOthers(besides: process, now: now) { try exchangeAll(ledger, now: now) }
        case .complete: try exchangeAll(ledger, now: now)
        }
    }

    /// The call may block.
    package func shutdown(now: Int64) throws {
        guard isShared, let ledger else { return }
        try loadLock.withLock { _ in
            state.withLock { $0.isShutDown = true }
            guard state.withLock({ $0.deliveryState?.hasLimits ?? false }) else { return }
            try ledger.exchange(question(of: [], now: now)) { [self] _ in
                state.withLock { $0.deliveryState?.returnLeases() } ?? SharedBudgetLeases([:], isThere: false)
            }
        }
    }

    private func question(of questions: [DeliveryQuery], now: Int64) -> BudgetSyncRequest {
        BudgetSyncRequest(
            process: process, questions: questions, seen: state.withLock { $0.deliveryState?.drainSeenElsewhere() } ?? [], now: now,
            lifetime: lifetime,
            presence: DeliveryState.leaseDuration)
    }

    /// Exchanges leases with the other processes, one exchange at a time.
    /// It is called under the lock, because another thread may have exchanged in the meantime.
    private func exchangeAll(_ ledger: any CampaignLedger, now: Int64, if isNeeded: (borrowing State) -> Bool = { !$0.isShutDown }) throws {
        try loadLock.withLock { _ in
            guard state.withLock({ isNeeded($0) }), let questions = state.withLock({ $0.deliveryState?.questions(at: now) }) else { return }
            do {
                // The campaign index may be replaced during the exchange. The state of each campaign moves to the new index.
                try ledger.exchange(question(of: questions, now: now)) { [self] situation in
                    state.withLock { $0.deliveryState?.proposeLeases(situation, to: questions, at: now) } ?? SharedBudgetLeases([:])
                }
                state.withLock { state in
                    state.deliveryState?.commitLeases(since: now)
                    state.retry = nil
                }
            } catch {
                state.withLock { state in
                    state.deliveryState?.dropLeases()
                    state.retry = .now + Self.pause
                }
                throw error
            }
        }
    }

    /// The call may block.
    package func begin(_ campaignIndex: CampaignIndex, now: Int64) throws {
        replaceCampaigns(campaignIndex, now: now)
        try exchangeIfBlind(now: now)
    }

    package var processes: Int? { state.withLock { $0.deliveryState?.processes.map { Int($0) } } }

    /// The call may block.
    package func progress(of campaignIndex: CampaignIndex, now: Int64) -> [CampaignProgress] {
        adopt(campaignIndex, now: now)
        var progress = state.withLock { state -> [CampaignProgress] in
            state.deliveryState?.advance(to: now, isAtOnce: true)
            guard let deliveryState = state.deliveryState, deliveryState.campaignIndex === campaignIndex else { return [] }
            return campaignIndex.campaigns.indices.map { deliveryState.progress($0, at: now) }
        }
        // The delivery state has no counts for campaigns without a goal, so the ledger provides them.
        let others = progress.indices.filter { progress[$0].delivered == nil }
        guard let ledger, !others.isEmpty else { return progress }
        let delivered = (try? ledger.delivered(others.map { DeliveryQuery(progress[$0].campaign, at: now) })) ?? []
        for (index, delivered) in zip(others, delivered) { progress[index].delivered = delivered }
        return progress
    }

    /// The call may block.
    package func delivered(_ campaigns: [Campaign], now: Int64) -> [DeliveryCount] {
        guard let ledger, !campaigns.isEmpty else { return [] }
        return (try? ledger.delivered(campaigns.map { DeliveryQuery($0, at: now) })) ?? []
    }

    package func explain(_ page: Page, of campaignIndex: CampaignIndex, served: [ServedAd?]) throws -> [[IneligibilityReason?]] {
        adopt(campaignIndex, now: page.now)
        let holding = campaignIndex.matchedTargeting(page.facts)
        let exposures = try self.exposures(campaignIndex, page, readsOthers: false)
        return state.withLock { state in
            state.deliveryState?.advance(to: page.now)
            guard let deliveryState = state.deliveryState, deliveryState.campaignIndex === campaignIndex else { return [] }
            let caps = exposures.room(of: campaignIndex, for: page.facts.viewer, besides: state.pending, now: page.now)
            var decision = AdDecision(
                campaignIndex, matchedTargeting: holding, caps: caps, seed: 0, apart: page.distances, without: page.banned,
                anonymousReservations: page.facts.viewer == nil ? deliveryState.reserved(by: max(1, page.facts.address)) : nil)
            decision.assume(page.facts.assumedServed)
            var explained = [[IneligibilityReason?]](repeating: [], count: page.slots.count)
            for number in page.order {
                let (slot, served, coordinate) = (page.slots[number], served[number], page.coordinate(of: number))
                let candidateList = campaignIndex.candidates(at: slot)
                var reasons: [IneligibilityReason?] = campaignIndex.campaigns.indices.map { index in
                    campaignIndex.obstacle(of: index, at: slot) ?? IneligibilityReason(rawValue: deliveryState.current.obstacles[index])
                }
                for entry in candidateList.entries where reasons[Int(entry.index)] == nil {
                    reasons[Int(entry.index)] = decision.obstacle(entry, candidateList, at: coordinate, deliveryState.current) ?? .lost
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

    // MARK: Delivery state

    /// The call may block if the state of a goal is unknown.
    private func adopt(_ campaignIndex: CampaignIndex, now: Int64) {
        replaceCampaigns(campaignIndex, now: now)
        // If the ledger cannot be read, the page is served without the campaigns whose delivery is unknown.
        try? exchangeIfBlind(now: now)
    }

    private func replaceCampaigns(_ campaignIndex: CampaignIndex, now: Int64) {
        state.withLock { state in
            guard state.deliveryState?.campaignIndex !== campaignIndex else { return }
            var deliveryState = DeliveryState(
                campaignIndex, lifetime: lifetime, isShared: isShared, process: ReservationID.number(of: process), tick: tick)
            state.draws = WeightedSelectorCache()
            if let old = state.deliveryState { deliveryState.migrate(from: old) }
            if !isShared { deliveryState.begin(at: now) }
            state.deliveryState = deliveryState
        }
    }

    private func exchangeIfBlind(now: Int64) throws {
        guard isShared, let ledger else { return }
        func isBlind(_ state: borrowing State) -> Bool {
            guard !state.isShutDown, let deliveryState = state.deliveryState, deliveryState.needsDeliveryCounts(at: now) else {
                return false
            }
            return state.retry.map { $0 <= .now } ?? true
        }
        guard state.withLock({ isBlind($0) }) else { return }
        try exchangeAll(ledger, now: now, if: isBlind)
    }

    private func exposures(_ campaignIndex: CampaignIndex, _ page: Page, readsOthers: Bool) throws -> ViewerFrequency {
        guard campaignIndex.hasCaps, let viewer = page.facts.viewer, let ledger else { return ViewerFrequency() }
        // Reservations are read before impressions: an impression between the two reads then counts twice instead of never.
        let mayHaveOthers = isShared && state.withLock { $0.deliveryState?.mayHaveOthers(at: page.now) ?? true }
        let elsewhere = readsOthers || mayHaveOthers ? try ledger.served(to: viewer, besides: process, now: page.now) : []
        let seen = try ledger.exposures(of: viewer, since: page.now - Int64(campaignIndex.longestCapWindow) * 1_000)
        // Impressions in the future were recorded by a clock that was ahead.
        return ViewerFrequency(seen: seen.filter { $0.at <= page.now + CellTokens.skew }, elsewhere: elsewhere)
    }

    static func isValid(_ allocated: ServedAd, at slot: AdSlotContext, _ deliveryState: DeliveryState, _ now: Int64) -> Bool {
        guard let index = deliveryState.campaignIndex.index(of: allocated.campaign),
            deliveryState.campaignIndex.number(of: allocated.creative) != nil
        else { return false }
        let obstacle = IneligibilityReason(rawValue: deliveryState.current.obstacles[index])
        guard obstacle != .goalReached, obstacle != .dailyGoalReached else { return false }
        return deliveryState.campaignIndex.obstacle(of: index, at: slot) == nil
            && deliveryState.campaignIndex.campaigns[index].isRunning(at: now)
    }
}
