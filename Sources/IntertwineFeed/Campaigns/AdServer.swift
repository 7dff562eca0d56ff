import Synchronization

/// Gives the places of pages to campaigns, and keeps to their goals and caps. One for each process.
package final class AdServer: Sendable {
    private struct State {
        var deliveryState: DeliveryState?
        /// Of the standing's book.
        var draws = WeightedSelectorCache()
        /// When pages may wait for an exchange again: the last one failed.
        var retry: ContinuousClock.Instant?
        var hasLeft = false
        var recentDecisions = RecentDecisions()
        var pending = UncommittedImpressions()
    }

    private let ledger: (any CampaignLedger)?
    private let process: String
    /// How long a place that was given counts as delivered where nobody has seen it. Milliseconds.
    package let lifetime: Int64
    /// Whether other processes may have the same ledger.
    private let isShared: Bool
    private let tick: Int64
    private let state = Mutex(State())
    /// Held by the one who exchanges.
    private let loadLock = Mutex(())

    /// How often a page is decided anew because another process gave its viewer something meanwhile.
    private static let attempts = 8
    /// For how long pages do not wait for an exchange where one has failed.
    private static let pause = Duration.milliseconds(500)

    /// - Parameters:
    ///   - ledger: nil where what is delivered is kept in memory alone.
    ///   - process: names it among those that share the ledger.
    ///   - lifetime: of a reservation, in milliseconds.
    ///   - isShared: false where no other process can have the ledger, and nothing was delivered before.
    ///   - tick: milliseconds for which what may be given is worked out at once; ``DeliveryState/tick`` where nothing is said.
    package init(ledger: (any CampaignLedger)?, process: String, lifetime: Int64, isShared: Bool = true, tick: Int64? = nil) {
        (self.ledger, self.process, self.lifetime) = (ledger, process, lifetime)
        self.tick = tick ?? DeliveryState.tick
        self.isShared = isShared && ledger != nil
    }

    /// What each place of a page is given to; nil where no campaign has it. It may block, as reading the ledger does.
    ///
    /// - Throws: what the ledger throws.
    func allocate(_ page: Page, of book: CampaignIndex) throws -> [ServedAd?] {
        adopt(book, now: page.now)
        let holding = book.matchedTargeting(page.facts)
        let key = Self.key(of: page, holding)
        for attempt in 0..<Self.attempts {
            // Where something was given by another process, there is one.
            let exposures = try self.exposures(book, page, asksOthers: attempt > 0)
            if let given = try adopted(page, key, of: book, exposures) { return given }
            let (given, isNew) = allocate(page, holding, key, of: book, exposures)
            guard isNew, let claim = claim(given, page, key, of: book, exposures), let ledger, try !ledger.claim(claim) else {
                return given
            }
            // Another process gave the viewer something in between.
            release(given.compactMap(\.self), page)
            state.withLock { $0.recentDecisions.forget(key) }
        }
        return page.slots.map { _ in nil }
    }

    /// The same page as another process gave the viewer: it has reserved its places, and noted them for the caps.
    private func adopted(_ page: Page, _ key: UInt64, of book: CampaignIndex, _ exposures: ViewerFrequency) throws -> [ServedAd?]? {
        guard !exposures.elsewhere.isEmpty || sharesReservations(of: book), page.banned.isEmpty, let viewer = page.facts.viewer, let ledger
        else {
            return nil
        }
        guard state.withLock({ $0.recentDecisions[key] == nil }),
            let bytes = try ledger.page(Int64(bitPattern: key), of: viewer, now: page.now),
            let given = AdDecisionCodec.decode(in: bytes, of: book), given.count == page.slots.count
        else { return nil }
        return state.withLock { state in
            guard let standing = state.deliveryState, standing.book === book,
                zip(given, page.slots).allSatisfy({ given, place in
                    given.map { Self.isValid($0, at: place, standing, page.now) } ?? true
                })
            else { return nil }
            if page.facts.allocates { state.recentDecisions.store(given, as: key, now: page.now, lifetime: lifetime) }
            return given
        }
    }

    /// Whether the viewer was given the page before, by this process or another one.
    func hasAllocated(_ page: Page, of book: CampaignIndex) throws -> Bool {
        let key = Self.key(of: page, book.matchedTargeting(page.facts))
        if state.withLock({ $0.recentDecisions[key] != nil }) { return true }
        guard isShared, let viewer = page.facts.viewer, let ledger else { return false }
        return try ledger.page(Int64(bitPattern: key), of: viewer, now: page.now) != nil
    }

    /// Creatives that could not be shown on a page that was given before.
    func banned(on page: Page, of book: CampaignIndex) -> [Int32] {
        let key = Self.key(of: page, book.matchedTargeting(page.facts))
        return state.withLock { $0.recentDecisions.banned[key] } ?? []
    }

    /// Tells a page from others: the same in every process.
    private static func seed(of page: Page) -> UInt64 {
        AdDecision.seed(
            page.facts.viewer, UInt64(page.identity), UInt64(bitPattern: page.facts.moment), UInt64(page.slots.count),
            page.slots.first?.layout == .table ? 1 : 0)
    }

    /// What decides where chance does: that of the session, or the page's own.
    private static func chance(of page: Page) -> UInt64 {
        page.distances.chance == 0 ? seed(of: page) : AdDecision.mix(UInt64(page.distances.chance))
    }

    /// Where a page is remembered: who is another one by what campaigns ask gets another page.
    private static func key(of page: Page, _ holding: ContiguousArray<UInt64>) -> UInt64 {
        holding.reduce(seed(of: page)) { AdDecision.mix($0 ^ $1) }
    }

    /// Whether places that count for goals may have been given by another process, which has noted the page.
    private func sharesReservations(of book: CampaignIndex) -> Bool {
        isShared && book.reportsPlacements && state.withLock { $0.deliveryState?.hasOthers ?? true }
    }

    /// What is to be noted for the others, and for whoever comes after this process.
    private func claim(
        _ given: [ServedAd?], _ page: Page, _ key: UInt64, of book: CampaignIndex, _ exposures: ViewerFrequency
    ) -> FrequencyCapReservation? {
        guard let viewer = page.facts.viewer, isShared else { return nil }
        var places: [String: Int] = [:]
        for given in given.compactMap(\.self) where given.remembered > 0 { places[given.campaign, default: 0] += 1 }
        guard !places.isEmpty || given.contains(where: { $0?.reservation != nil }) && sharesReservations(of: book) else { return nil }
        return FrequencyCapReservation(
            viewer: viewer, process: process, counts: places,
            page: (Int64(bitPattern: key), AdDecisionCodec.bytes(of: given)), known: exposures.elsewhere.reduce(0) { $0 + $1.count },
            now: page.now, until: page.now &+ lifetime)
    }

    /// - Returns: whether anything was given, or it is a page of before.
    private func allocate(
        _ page: Page, _ holding: ContiguousArray<UInt64>, _ key: UInt64, of book: CampaignIndex, _ exposures: ViewerFrequency
    ) -> (given: [ServedAd?], isNew: Bool) {
        state.withLock { state in
            guard var standing = state.deliveryState, standing.book === book else { return (page.slots.map { _ in nil }, false) }
            // It is written back below: nothing else refers to it meanwhile.
            state.deliveryState = nil
            defer { state.deliveryState = standing }
            standing.advance(to: page.now)
            // Where something of it has gone or ended meanwhile, all places are given anew.
            if page.banned.isEmpty, var kept = state.recentDecisions[key], kept.count == page.slots.count,
                zip(kept, page.slots).allSatisfy({ given, place in
                    given.map { Self.isValid($0, at: place, standing, page.now) } ?? true
                })
            {
                if page.facts.allocates, renew(&kept, &standing, now: page.now) {
                    state.recentDecisions.store(kept, as: key, now: page.now, lifetime: lifetime)
                }
                return (kept, false)
            }
            let caps = exposures.room(of: book, for: page.facts.viewer, besides: state.pending, now: page.now)
            // Who has no name has some address, known or not.
            let address = page.facts.viewer == nil ? max(1, page.facts.address) : 0
            var decision = AdDecision(
                book, matchedTargeting: holding, caps: caps, seed: Self.chance(of: page), apart: page.distances, only: page.only,
                without: page.banned,
                anonymousReservations: address == 0 ? nil : standing.reserved(by: address))
            decision.assume(page.facts.assumedServed)
            var given = [ServedAd?](repeating: nil, count: page.slots.count)
            for number in page.order {
                let place = page.slots[number]
                let sort = WeightedSelector.SelectionKey(slot: place, matchedTargeting: holding, hasViewer: page.facts.viewer != nil)
                let shelf = book.candidates(at: place)
                let choice = state.draws.with(sort, shelf, of: book) {
                    decision.choose(shelf, &$0, for: page.spot(number), standing.current)
                }
                guard let choice else { continue }
                let campaign = book.campaigns[choice.campaign]
                given[number] = ServedAd(
                    campaign: campaign.id, creative: book.creatives[Int(choice.creative)], remembered: campaign.longestCapWindow)
            }
            guard page.facts.allocates else { return (given, false) }
            for number in given.indices {
                guard let one = given[number] else { continue }
                if let index = book.index(of: one.campaign), let place = standing.reserve(index, for: address, at: page.now) {
                    given[number]?.reservation = place
                    given[number]?.ends = page.now &+ lifetime
                }
                if one.remembered > 0, let viewer = page.facts.viewer {
                    state.pending.add(one.campaign, to: viewer, now: page.now, lifetime: lifetime)
                }
            }
            // Where nobody had a place, whoever comes meanwhile may have it.
            if given.contains(where: { $0 != nil }) {
                state.recentDecisions.store(given, as: key, besides: page.banned, now: page.now, lifetime: lifetime)
            }
            return (given, true)
        }
    }

    /// Has places that were just given be free again: what they were given to cannot be shown there.
    func release(_ given: [ServedAd], _ page: Page) {
        guard page.facts.allocates else { return }
        state.withLock { state in
            for given in given {
                if let index = state.deliveryState?.book.index(of: given.campaign) {
                    state.deliveryState?.undoReservation(index, given.reservation)
                }
                if given.remembered > 0, let viewer = page.facts.viewer { state.pending.remove(given.campaign, of: viewer) }
            }
        }
    }

    /// Whether a campaign's goal is reached, in all or for its day, as far as this process knows.
    func isReached(_ campaign: String, at now: Int64) -> Bool {
        state.withLock { state in
            state.deliveryState?.advance(to: now)
            guard let standing = state.deliveryState, let index = standing.book.index(of: campaign) else { return false }
            return standing.isReached(index)
        }
    }

    /// Notes what the ledger has counted. To be told of each commit, in its completion.
    package func eventsDidCommit(_ events: [LedgerEvent], _ verdicts: [Verdict]) {
        guard events.contains(where: { $0.showing?.campaign != nil }) else { return }
        state.withLock { state in
            for (event, verdict) in zip(events, verdicts) where verdict == .counted {
                guard let showing = event.showing, let campaign = showing.campaign else { continue }
                if let index = state.deliveryState?.book.index(of: campaign) {
                    state.deliveryState?.didCommit(index, event.kind, showing.reservation)
                }
                if event.kind == .impression, let viewer = event.viewer { state.pending.remove(campaign, of: viewer) }
            }
        }
    }

    /// Exchanges with the other processes of the ledger where it is time for that. To be called a few times a second; it may block.
    ///
    /// - Throws: what the ledger throws. What this process holds stays then, until the others may take it to be gone.
    package func exchange(now: Int64) throws {
        guard isShared, let ledger else { return }
        let due = state.withLock { state -> DeliveryState.Exchange in
            let due = state.hasLeft ? .nothing : state.deliveryState?.exchange(at: now) ?? .nothing
            if due == .nothing { state.deliveryState?.resetPeers() }
            return due
        }
        switch due {
        case .nothing: return
        case .readOnly: if try ledger.hasOthers(besides: process, now: now) { try exchangeAll(ledger, now: now) }
        case .complete: try exchangeAll(ledger, now: now)
        }
    }

    /// Gives back what this process holds; it gives nothing more that has a goal. It may block.
    package func shutdown(now: Int64) throws {
        guard isShared, let ledger else { return }
        try loadLock.withLock { _ in
            state.withLock { $0.hasLeft = true }
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

    /// - Parameter isNeeded: asked in turn: another one may have exchanged meanwhile.
    private func exchangeAll(_ ledger: any CampaignLedger, now: Int64, if isNeeded: (borrowing State) -> Bool = { !$0.hasLeft }) throws {
        try loadLock.withLock { _ in
            guard state.withLock({ isNeeded($0) }), let questions = state.withLock({ $0.deliveryState?.questions(at: now) }) else { return }
            do {
                // Another book may come meanwhile: what is known of a campaign goes on with it.
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

    /// Learns how the campaigns of a book stand, before the first page asks. It may block.
    ///
    /// - Throws: what the ledger throws.
    package func begin(_ book: CampaignIndex, now: Int64) throws {
        replaceCampaigns(book, now: now)
        try exchangeIfBlind(now: now)
    }

    /// Those that share the ledger and give places, with this one; nil where that has not been found out.
    package var processes: Int? { state.withLock { $0.deliveryState?.processes.map { Int($0) } } }

    /// How each campaign of a book stands, as this process knows it. It may block.
    package func progress(of book: CampaignIndex, now: Int64) -> [CampaignProgress] {
        adopt(book, now: now)
        var progress = state.withLock { state -> [CampaignProgress] in
            state.deliveryState?.advance(to: now, isAtOnce: true)
            guard let standing = state.deliveryState, standing.book === book else { return [] }
            return book.campaigns.indices.map { standing.progress($0, at: now) }
        }
        // Of campaigns without goals nothing is counted along.
        let others = progress.indices.filter { progress[$0].delivered == nil }
        guard let ledger, !others.isEmpty else { return progress }
        let delivered = (try? ledger.delivered(others.map { DeliveryQuery(progress[$0].campaign, at: now) })) ?? []
        for (index, delivered) in zip(others, delivered) { progress[index].delivered = delivered }
        return progress
    }

    /// What the ledger has counted of campaigns that are in no book; nothing where it cannot be read. It may block.
    package func delivered(_ campaigns: [Campaign], now: Int64) -> [DeliveryCount] {
        guard let ledger, !campaigns.isEmpty else { return [] }
        return (try? ledger.delivered(campaigns.map { DeliveryQuery($0, at: now) })) ?? []
    }

    /// Why the campaigns of a page's places were or were not chosen: for each place, one entry for each campaign; nil for the chosen one.
    func explain(_ page: Page, of book: CampaignIndex, served: [ServedAd?]) throws -> [[IneligibilityReason?]] {
        adopt(book, now: page.now)
        let holding = book.matchedTargeting(page.facts)
        let exposures = try self.exposures(book, page, asksOthers: false)
        return state.withLock { state in
            state.deliveryState?.advance(to: page.now)
            guard let standing = state.deliveryState, standing.book === book else { return [] }
            let caps = exposures.room(of: book, for: page.facts.viewer, besides: state.pending, now: page.now)
            var decision = AdDecision(
                book, matchedTargeting: holding, caps: caps, seed: 0, apart: page.distances, without: page.banned,
                anonymousReservations: page.facts.viewer == nil ? standing.reserved(by: max(1, page.facts.address)) : nil)
            decision.assume(page.facts.assumedServed)
            var explained = [[IneligibilityReason?]](repeating: [], count: page.slots.count)
            for number in page.order {
                let (place, served, spot) = (page.slots[number], served[number], page.spot(number))
                let shelf = book.candidates(at: place)
                var reasons: [IneligibilityReason?] = book.campaigns.indices.map { index in
                    book.obstacle(of: index, at: place) ?? IneligibilityReason(rawValue: standing.current.obstacles[index])
                }
                for entry in shelf.entries where reasons[Int(entry.index)] == nil {
                    reasons[Int(entry.index)] = decision.obstacle(entry, shelf, for: spot, standing.current) ?? .lost
                }
                if let served, let index = book.index(of: served.campaign) {
                    reasons[index] = nil
                    if let entry = shelf.entries.first(where: { $0.index == index }),
                        let creative = book.creatives.firstIndex(of: served.creative)
                    {
                        decision.select(AdDecision.Choice(campaign: index, creative: Int32(creative)), entry, for: spot)
                    }
                }
                explained[number] = reasons
            }
            return explained
        }
    }

    // MARK: What is known

    /// Has the campaigns of a book be those in force, with all that is known of their goals. It may block, where something is not.
    private func adopt(_ book: CampaignIndex, now: Int64) {
        replaceCampaigns(book, now: now)
        // A page does without the campaigns of which nothing is known, where the ledger cannot be asked.
        try? exchangeIfBlind(now: now)
    }

    private func replaceCampaigns(_ book: CampaignIndex, now: Int64) {
        state.withLock { state in
            guard state.deliveryState?.book !== book else { return }
            var standing = DeliveryState(
                book, lifetime: lifetime, isShared: isShared, process: ReservationID.number(of: process), tick: tick)
            state.draws = WeightedSelectorCache()
            if let old = state.deliveryState { standing.migrate(from: old) }
            if !isShared { standing.begin(at: now) }
            state.deliveryState = standing
        }
    }

    private func exchangeIfBlind(now: Int64) throws {
        guard isShared, let ledger else { return }
        func isBlind(_ state: borrowing State) -> Bool {
            guard !state.hasLeft, let standing = state.deliveryState, standing.needsDeliveryCounts(at: now) else { return false }
            return state.retry.map { $0 <= .now } ?? true
        }
        guard state.withLock({ isBlind($0) }) else { return }
        try exchangeAll(ledger, now: now, if: isBlind)
    }

    /// - Parameter asksOthers: whether to look for what other processes gave also where there are none.
    private func exposures(_ book: CampaignIndex, _ page: Page, asksOthers: Bool) throws -> ViewerFrequency {
        guard book.hasCaps, let viewer = page.facts.viewer, let ledger else { return ViewerFrequency() }
        // In this order: what is seen in between counts twice and not never.
        let mayHaveOthers = isShared && state.withLock { $0.deliveryState?.mayHaveOthers(at: page.now) ?? true }
        let elsewhere = asksOthers || mayHaveOthers ? try ledger.served(to: viewer, besides: process, now: page.now) : []
        let seen = try ledger.exposures(of: viewer, since: page.now - Int64(book.longestCapWindow) * 1_000)
        // What is to come was written by a clock that was ahead.
        return ViewerFrequency(seen: seen.filter { $0.at <= page.now + CellTokens.skew }, elsewhere: elsewhere)
    }

    /// Whether a place may still show what it was given to.
    private static func isValid(_ given: ServedAd, at place: AdSlotContext, _ standing: DeliveryState, _ now: Int64) -> Bool {
        guard let index = standing.book.index(of: given.campaign), standing.book.number(of: given.creative) != nil else { return false }
        let obstacle = IneligibilityReason(rawValue: standing.current.obstacles[index])
        guard obstacle != .goalReached, obstacle != .dailyGoalReached else { return false }
        return standing.book.obstacle(of: index, at: place) == nil && standing.book.campaigns[index].isRunning(at: now)
    }
}
