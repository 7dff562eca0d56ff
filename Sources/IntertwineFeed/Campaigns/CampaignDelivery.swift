import Synchronization

/// Gives the places of pages to campaigns, and keeps to their goals and caps. One for each process.
package final class CampaignDelivery: Sendable {
    /// What a place was given to.
    package struct Given: Sendable, Hashable {
        package var campaign: String
        package var creative: CampaignCreative
        package var disclosure: Campaign.Disclosure?
        /// For how long the viewer's having seen it is remembered. Seconds.
        package var remembered: Int
    }

    /// A page whose places are to be given.
    struct Page: Sendable {
        var places: [CampaignPlace]
        /// Tells the page from others.
        var identity: UInt32
        var facts: CampaignFacts
        var now: Int64
        /// Creatives that cannot be shown on it.
        var banned: [Int32] = []
    }

    /// Pages of one viewer that are asked for again get the same, and nothing is given twice.
    private struct Memory {
        /// When there are more, the older half is forgotten.
        static let capacity = 32_768

        private var recent: [UInt64: [Given?]] = [:]
        private var older: [UInt64: [Given?]] = [:]
        private var turned: Int64 = .min

        subscript(key: UInt64) -> [Given?]? { recent[key] ?? older[key] }

        mutating func keep(_ given: [Given?], as key: UInt64, now: Int64, lifetime: Int64) {
            if recent.count >= Self.capacity || now < turned || now >= turned &+ lifetime || turned == .min {
                (older, recent, turned) = (recent, [:], now)
            }
            recent[key] = given
        }
    }

    /// What viewers were given of campaigns with caps and have not seen yet.
    private struct Pending {
        typealias Places = (campaign: String, count: Int, until: Int64)
        private static let capacity = 65_536

        private var viewers: [UInt64: [Places]] = [:]

        func places(of viewer: String, now: Int64) -> [Places] {
            viewers[CampaignDecision.seed(viewer)]?.filter { $0.until > now } ?? []
        }

        mutating func add(_ campaign: String, to viewer: String, now: Int64, lifetime: Int64) {
            if viewers.count >= Self.capacity { viewers = viewers.filter { $0.value.contains { $0.until > now } } }
            if viewers.count >= Self.capacity { viewers = [:] }
            var places = places(of: viewer, now: now)
            let count = places.first { $0.campaign == campaign }?.count ?? 0
            places.removeAll { $0.campaign == campaign }
            places.append((campaign, count + 1, now &+ lifetime))
            viewers[CampaignDecision.seed(viewer)] = places
        }

        mutating func settle(_ campaign: String, of viewer: String) {
            let key = CampaignDecision.seed(viewer)
            guard let index = viewers[key]?.firstIndex(where: { $0.campaign == campaign }) else { return }
            viewers[key]?[index].count -= 1
            if viewers[key]?[index].count == 0 { viewers[key]?.remove(at: index) }
            if viewers[key]?.isEmpty == true { viewers[key] = nil }
        }
    }

    private struct State {
        var standing: CampaignStanding?
        /// When pages may wait for an exchange again: the last one failed.
        var retry: ContinuousClock.Instant?
        var hasLeft = false
        var memory = Memory()
        var pending = Pending()
    }

    private let ledger: (any CampaignLedger)?
    private let process: String
    /// How long a place that was given counts as delivered where nobody has seen it. Milliseconds.
    package let lifetime: Int64
    /// Whether other processes may have the same ledger.
    private let isShared: Bool
    private let state = Mutex(State())
    /// Held by the one who exchanges.
    private let turn = Mutex(())

    /// For how long pages do not wait for an exchange where one has failed.
    private static let pause = Duration.milliseconds(500)

    /// - Parameters:
    ///   - ledger: nil where what is delivered is kept in memory alone.
    ///   - process: names it among those that share the ledger.
    ///   - lifetime: of a reservation, in milliseconds.
    ///   - isShared: false where no other process can have the ledger, and nothing was delivered before.
    package init(ledger: (any CampaignLedger)?, process: String, lifetime: Int64, isShared: Bool = true) {
        (self.ledger, self.process, self.lifetime) = (ledger, process, lifetime)
        self.isShared = isShared && ledger != nil
    }

    /// What each place of a page is given to; nil where no campaign has it. It may block, as reading the ledger does.
    ///
    /// - Throws: what the ledger throws.
    func give(_ page: Page, of book: CampaignBook) throws -> [Given?] {
        adopt(book, now: page.now)
        let holding = book.holding(page.facts)
        let exposures = try self.exposures(book, page)
        let key = CampaignDecision.seed(
            page.facts.viewer, UInt64(page.identity), UInt64(bitPattern: page.facts.moment), UInt64(page.places.count),
            page.places.first?.layout == .table ? 1 : 0)
        return state.withLock { state in
            guard var standing = state.standing, standing.book === book else { return page.places.map { _ in nil } }
            // It is written back below: nothing else refers to it meanwhile.
            state.standing = nil
            defer { state.standing = standing }
            standing.advance(to: page.now)
            // Where something of it has gone or ended meanwhile, all places are given anew.
            if page.banned.isEmpty, let kept = state.memory[key], kept.count == page.places.count,
                kept.allSatisfy({ $0.map { Self.stands($0, standing, page.now) } ?? true })
            {
                return kept
            }
            let caps = Self.room(of: book, page, exposures, state.pending)
            var decision = CampaignDecision(book, holding: holding, caps: caps, seed: key, without: page.banned)
            let given = page.places.enumerated().map { number, place -> Given? in
                guard let choice = decision.choose(book.shelf(at: place), number: number, standing.current) else { return nil }
                let campaign = book.campaigns[choice.campaign]
                return Given(
                    campaign: campaign.id, creative: book.creatives[Int(choice.creative)], disclosure: campaign.disclosure,
                    remembered: campaign.memory)
            }
            guard page.facts.gives else { return given }
            for given in given.compactMap(\.self) {
                if let index = book.index(of: given.campaign) { standing.give(index, at: page.now) }
                if given.remembered > 0, let viewer = page.facts.viewer {
                    state.pending.add(given.campaign, to: viewer, now: page.now, lifetime: lifetime)
                }
            }
            state.memory.keep(given, as: key, now: page.now, lifetime: lifetime)
            return given
        }
    }

    /// Has places that were just given be free again: what they were given to cannot be shown there.
    func takeBack(_ given: [Given], _ page: Page) {
        guard page.facts.gives else { return }
        state.withLock { state in
            for given in given {
                if let index = state.standing?.book.index(of: given.campaign) { state.standing?.takeBack(index) }
                if given.remembered > 0, let viewer = page.facts.viewer { state.pending.settle(given.campaign, of: viewer) }
            }
        }
    }

    /// Notes what the ledger has counted. To be told of each commit, in its completion.
    package func settle(_ events: [LedgerEvent], _ verdicts: [Verdict]) {
        guard events.contains(where: { $0.showing?.campaign != nil }) else { return }
        state.withLock { state in
            for (event, verdict) in zip(events, verdicts) where verdict == .counted {
                guard let campaign = event.showing?.campaign else { continue }
                if let index = state.standing?.book.index(of: campaign) { state.standing?.settle(index, event.kind) }
                if event.kind == .impression, let viewer = event.viewer { state.pending.settle(campaign, of: viewer) }
            }
        }
    }

    /// Exchanges with the other processes of the ledger where it is time for that. To be called a few times a second; it may block.
    ///
    /// - Throws: what the ledger throws. What this process holds stays then, until the others may take it to be gone.
    package func exchange(now: Int64) throws {
        guard isShared, let ledger else { return }
        let due = state.withLock { state -> CampaignStanding.Exchange in
            let due = state.hasLeft ? .nothing : state.standing?.exchange(at: now) ?? .nothing
            if due == .nothing { state.standing?.forgetOthers() }
            return due
        }
        switch due {
        case .nothing: return
        case .look: if try ledger.hasOthers(besides: process, now: now) { try exchangeAll(ledger, now: now) }
        case .whole: try exchangeAll(ledger, now: now)
        }
    }

    /// Gives back what this process holds; it gives nothing more that has a goal. It may block.
    package func leave(now: Int64) throws {
        guard isShared, let ledger else { return }
        try turn.withLock { _ in
            state.withLock { $0.hasLeft = true }
            guard state.withLock({ $0.standing?.hasGoals ?? false }) else { return }
            try ledger.exchange(question(of: [], now: now)) { [self] _ in
                state.withLock { $0.standing?.leave() } ?? GoalHoldings([:], isThere: false)
            }
        }
    }

    private func question(of questions: [DeliveryQuestion], now: Int64) -> GoalExchange {
        GoalExchange(process: process, questions: questions, now: now, lifetime: lifetime, presence: CampaignStanding.presence)
    }

    /// - Parameter isNeeded: asked in turn: another one may have exchanged meanwhile.
    private func exchangeAll(_ ledger: any CampaignLedger, now: Int64, if isNeeded: (borrowing State) -> Bool = { !$0.hasLeft }) throws {
        try turn.withLock { _ in
            guard state.withLock({ isNeeded($0) }), let questions = state.withLock({ $0.standing?.questions(at: now) }) else { return }
            do {
                // Another book may come meanwhile: what is known of a campaign goes on with it.
                try ledger.exchange(question(of: questions, now: now)) { [self] situation in
                    state.withLock { $0.standing?.offer(situation, to: questions, at: now) } ?? GoalHoldings([:])
                }
                state.withLock { state in
                    state.standing?.hold(since: now)
                    state.retry = nil
                }
            } catch {
                state.withLock { state in
                    state.standing?.holdNoMore()
                    state.retry = .now + Self.pause
                }
                throw error
            }
        }
    }

    /// Learns how the campaigns of a book stand, before the first page asks. It may block.
    ///
    /// - Throws: what the ledger throws.
    package func begin(_ book: CampaignBook, now: Int64) throws {
        take(book, now: now)
        try exchangeIfBlind(now: now)
    }

    /// Those that share the ledger and give places, with this one; nil where that has not been found out.
    package var processes: Int? { state.withLock { $0.standing?.processes.map { Int($0) } } }

    /// How each campaign of a book stands, as this process knows it. It may block.
    package func progress(of book: CampaignBook, now: Int64) -> [CampaignProgress] {
        adopt(book, now: now)
        return state.withLock { state in
            state.standing?.advance(to: now, isAtOnce: true)
            guard let standing = state.standing, standing.book === book else { return [] }
            return book.campaigns.indices.map { standing.progress($0, at: now) }
        }
    }

    /// Why the campaigns of a page's places were or were not chosen: for each place, one entry for each campaign; nil for the chosen one.
    func explain(_ page: Page, of book: CampaignBook, given: [Given?]) throws -> [[CampaignObstacle?]] {
        adopt(book, now: page.now)
        let holding = book.holding(page.facts)
        let exposures = try self.exposures(book, page)
        return state.withLock { state in
            state.standing?.advance(to: page.now)
            guard let standing = state.standing, standing.book === book else { return [] }
            let caps = Self.room(of: book, page, exposures, state.pending)
            var decision = CampaignDecision(book, holding: holding, caps: caps, seed: 0, without: page.banned)
            return zip(page.places, given).map { place, given in
                let shelf = book.shelf(at: place)
                var reasons: [CampaignObstacle?] = book.campaigns.indices.map { index in
                    book.obstacle(of: index, at: place) ?? CampaignObstacle(rawValue: standing.current.obstacles[index])
                }
                for entry in shelf.entries where reasons[Int(entry.index)] == nil {
                    reasons[Int(entry.index)] = decision.obstacle(entry, shelf, standing.current) ?? .lost
                }
                if let given, let index = book.index(of: given.campaign) {
                    reasons[index] = nil
                    if let entry = shelf.entries.first(where: { $0.index == index }),
                        let creative = book.creatives.firstIndex(of: given.creative)
                    {
                        decision.take(CampaignDecision.Choice(campaign: index, creative: Int32(creative)), entry)
                    }
                }
                return reasons
            }
        }
    }

    // MARK: What is known

    /// Has the campaigns of a book be those in force, with all that is known of their goals. It may block, where something is not.
    private func adopt(_ book: CampaignBook, now: Int64) {
        take(book, now: now)
        // A page does without the campaigns of which nothing is known, where the ledger cannot be asked.
        try? exchangeIfBlind(now: now)
    }

    private func take(_ book: CampaignBook, now: Int64) {
        state.withLock { state in
            guard state.standing?.book !== book else { return }
            var standing = CampaignStanding(book, lifetime: lifetime, isShared: isShared)
            if let old = state.standing { standing.take(over: old) }
            if !isShared { standing.begin(at: now) }
            state.standing = standing
        }
    }

    private func exchangeIfBlind(now: Int64) throws {
        guard isShared, let ledger else { return }
        func isBlind(_ state: borrowing State) -> Bool {
            guard !state.hasLeft, let standing = state.standing, standing.isBlind(at: now) else { return false }
            return state.retry.map { $0 <= .now } ?? true
        }
        guard state.withLock({ isBlind($0) }) else { return }
        try exchangeAll(ledger, now: now, if: isBlind)
    }

    private func exposures(_ book: CampaignBook, _ page: Page) throws -> [CampaignExposure] {
        guard book.hasCaps, let viewer = page.facts.viewer, let ledger else { return [] }
        return try ledger.exposures(of: viewer, since: page.now - Int64(book.memory) * 1_000)
    }

    private static func stands(_ given: Given, _ standing: CampaignStanding, _ now: Int64) -> Bool {
        guard let index = standing.book.index(of: given.campaign), standing.book.number(of: given.creative) != nil else { return false }
        return standing.book.campaigns[index].isRunning(at: now)
    }

    /// What the viewer's caps leave of those campaigns that the viewer has seen or been given.
    private static func room(
        of book: CampaignBook, _ page: Page, _ exposures: [CampaignExposure], _ pending: Pending
    ) -> CampaignDecision.CapRoom {
        guard let viewer = page.facts.viewer else { return CampaignDecision.CapRoom(hasViewer: false) }
        var room = CampaignDecision.CapRoom(hasViewer: true)
        guard book.hasCaps else { return room }
        let pending = pending.places(of: viewer, now: page.now)
        for id in Set(exposures.map(\.campaign) + pending.map(\.campaign)) {
            guard let index = book.index(of: id), !book.campaigns[index].caps.isEmpty else { continue }
            let waiting = pending.reduce(0) { $1.campaign == id ? $0 + $1.count : $0 }
            room.rooms[Int32(index)] =
                book.campaigns[index].caps.map { cap in
                    let since = page.now - Int64(cap.window) * 1_000
                    return exposures.reduce(cap.count - waiting) { $1.campaign == id && $1.at > since ? $0 - $1.count : $0 }
                }.min()
        }
        return room
    }
}
