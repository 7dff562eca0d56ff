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
        var memory = Memory()
        var pending = Pending()
    }

    private let ledger: (any CampaignLedger)?
    private let process: String
    /// How long a place that was given counts as delivered where nobody has seen it. Milliseconds.
    package let lifetime: Int64
    private let state = Mutex(State())

    /// - Parameters:
    ///   - ledger: nil where what is delivered is kept in memory alone.
    ///   - process: names it among those that share the ledger.
    ///   - lifetime: of a reservation, in milliseconds.
    package init(ledger: (any CampaignLedger)?, process: String, lifetime: Int64) {
        (self.ledger, self.process, self.lifetime) = (ledger, process, lifetime)
    }

    /// What each place of a page is given to; nil where no campaign has it. It may block, as reading the ledger does.
    ///
    /// - Throws: what the ledger throws.
    func give(_ page: Page, of book: CampaignBook) throws -> [Given?] {
        try adopt(book, now: page.now)
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

    /// Notes what the ledger has counted. To be told of each commit.
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

    /// Tells the other processes of the ledger what is given out here, and hears what they have. To be called a few times a second.
    package func exchange(now: Int64) async throws {
        guard let ledger else { return }
        let told = state.withLock { state -> [String: Int]? in
            guard let standing = state.standing, standing.hasGoals else {
                state.standing?.forgetOthers()
                return nil
            }
            // Nobody has to be told where nobody else is there.
            return standing.processes == 1 ? [:] : standing.reservations
        }
        guard let reservations = told else { return }
        let others = try await ledger.exchange(
            CampaignReservations(process: process, counts: reservations, lifetime: lifetime), now: now)
        // Alone, this process knows what is delivered: it counts along.
        let wasAlone = state.withLock { $0.standing?.processes == 1 }
        guard others.processes > 0 || !wasAlone else { return }
        guard let questions = state.withLock({ $0.standing?.questions(at: now) }) else { return }
        let delivered = try ledger.deliveries(of: questions.map(\.question))
        state.withLock { state in
            state.standing?.take(others)
            state.standing?.take(delivered, for: questions)
        }
    }

    /// Learns how the campaigns of a book stand, before the first page asks. It may block, as reading the ledger does.
    package func begin(_ book: CampaignBook, now: Int64) throws { try adopt(book, now: now) }

    /// Those that share the ledger and give places, with this one; nil where that has not been found out.
    package var processes: Int? { state.withLock { $0.standing?.processes.map { Int($0) } } }

    /// How each campaign of a book stands, as this process knows it. It may block, as reading the ledger does.
    package func progress(of book: CampaignBook, now: Int64) throws -> [CampaignProgress] {
        try adopt(book, now: now)
        return state.withLock { state in
            state.standing?.advance(to: now)
            guard let standing = state.standing, standing.book === book else { return [] }
            return book.campaigns.indices.map { standing.progress($0, at: now) }
        }
    }

    /// Why the campaigns of a page's places were or were not chosen: for each place, one entry for each campaign; nil for the chosen one.
    func explain(_ page: Page, of book: CampaignBook, given: [Given?]) throws -> [[CampaignObstacle?]] {
        try adopt(book, now: page.now)
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

    /// Goes on with another book, and with what its campaigns have delivered.
    private func adopt(_ book: CampaignBook, now: Int64) throws {
        guard state.withLock({ $0.standing?.book !== book }) else { return }
        var standing = CampaignStanding(book, lifetime: lifetime, isAlone: ledger == nil)
        let questions = standing.questions(at: now)
        let delivered = try ledger?.deliveries(of: questions.map(\.question))
        state.withLock { state in
            guard state.standing?.book !== book else { return }
            if let old = state.standing { standing.take(over: old) }
            if let delivered {
                standing.take(delivered, for: questions)
            } else {
                standing.begin(questions)
            }
            state.standing = standing
        }
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
