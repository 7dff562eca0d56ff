/// How far a campaign has come.
package struct CampaignProgress: Sendable {
    package var campaign: Campaign
    package var delivered: Delivered
    /// Given out and not seen yet.
    package var reserved: Int64
    /// What its goals have for now, evenly paced ones by the time that has passed; nil without.
    package var due: Int64?
    package var dueToday: Int64?
    /// Why it is not shown now; nil where that is up to the request.
    package var obstacle: CampaignObstacle?
}

/// How the campaigns of a book stand in one process: what is delivered, what is given out and not seen yet, and what may still be given.
///
/// A place that is given counts as delivered until it is seen, when the ledger counts it, or until its reservation is over. Among several
/// processes each may give its part of what is left until they have told each other again, so that all of them together keep to the goal.
struct CampaignStanding {
    private struct Row {
        var delivered = Delivered()
        /// Given out by this process, and neither seen nor over.
        var reserved: Int64 = 0
        var others: Int64 = 0
        /// Milliseconds since 1970-01-01 UTC; of which day ``Delivered/today`` is.
        var day: Int64 = .min
        let pace: CampaignPace
        let zone: CampaignZone
        let goal: Campaign.Goal?
    }

    /// Places that were given in one stretch of time and that nobody has seen yet, by campaign.
    private struct Slot {
        var end: Int64
        var counts: [Int32: Int64] = [:]
    }

    /// Milliseconds for which what may be given is worked out at once.
    private static let tick: Int64 = 100
    private static let slots: Int64 = 60
    /// Places of a campaign that are given before the others have been heard.
    private static let unheard: Int64 = 8
    /// Milliseconds after which another process gives what cannot be divided.
    private static let turn: Int64 = 2_000

    let book: CampaignBook
    private(set) var current = CampaignDecision.Standing()
    private var rows: [Row]
    private var given: [Slot] = []
    private let lifetime: Int64
    private var last: Int64 = .min
    private var offsets: [CampaignZone: (quarter: Int64, offset: Int64)] = [:]
    /// Those that share the ledger, with this one; nil until they have been heard.
    private(set) var processes: Int64?
    /// How many of them are before this one.
    private var rank: Int64 = 0
    private var hasNews = true

    /// - Parameters:
    ///   - lifetime: of a reservation, in milliseconds.
    ///   - isAlone: whether there can be no other process.
    init(_ book: CampaignBook, lifetime: Int64, isAlone: Bool) {
        (self.book, self.lifetime, processes) = (book, max(1, lifetime), isAlone ? 1 : nil)
        rows = book.campaigns.map { Row(pace: CampaignPace($0), zone: $0.zone, goal: $0.goal) }
        current.obstacles = ContiguousArray(repeating: CampaignObstacle.unknownDelivery.rawValue, count: rows.count)
        current.room = ContiguousArray(repeating: 0, count: rows.count)
        current.urgency = ContiguousArray(repeating: 1, count: rows.count)
    }

    /// What is asked of the ledger at a moment.
    mutating func questions(at now: Int64) -> [(index: Int, question: DeliveryQuestion)] {
        rows.indices.compactMap { index in
            guard let goal = rows[index].goal else { return nil }
            let day = CampaignPace.startOfDay(now, offset: offset(of: rows[index].zone, at: now))
            return (index, DeliveryQuestion(campaign: book.campaigns[index].id, kind: goal.kind, day: day))
        }
    }

    mutating func take(_ delivered: [Delivered], for questions: [(index: Int, question: DeliveryQuestion)]) {
        for ((index, question), delivered) in zip(questions, delivered) {
            rows[index].delivered = delivered
            rows[index].day = question.day
        }
        (hasNews, last) = (true, .min)
    }

    /// Has those that were not known before begin with nothing, where no ledger says more.
    mutating func begin(_ questions: [(index: Int, question: DeliveryQuestion)]) {
        for (index, question) in questions where rows[index].day == .min { rows[index].day = question.day }
        (hasNews, last) = (true, .min)
    }

    mutating func take(_ others: OtherReservations) {
        for index in rows.indices { rows[index].others = Int64(others.counts[book.campaigns[index].id] ?? 0) }
        (processes, rank) = (Int64(others.processes) + 1, Int64(others.before))
        (hasNews, last) = (true, .min)
    }

    /// While it has nothing to tell, it hears nothing either.
    mutating func forgetOthers() { processes = nil }

    /// What a book before this one had given out.
    mutating func take(over old: CampaignStanding) {
        let book = book
        func new(_ index: Int32) -> Int32? { book.index(of: old.book.campaigns[Int(index)].id).map { Int32($0) } }
        given = old.given.map { slot in
            Slot(end: slot.end, counts: Dictionary(slot.counts.compactMap { count in new(count.key).map { ($0, count.value) } }) { $1 })
        }
        (processes, rank) = (old.processes, old.rank)
        for (index, row) in old.rows.enumerated() {
            guard let index = new(Int32(index)) else { continue }
            (rows[Int(index)].reserved, rows[Int(index)].others) = (row.reserved, row.others)
            rows[Int(index)].delivered = row.delivered
            rows[Int(index)].day = row.day
        }
    }

    /// Those of campaigns whose goals are impressions.
    var reservations: [String: Int] {
        var counts: [String: Int] = [:]
        for index in rows.indices where rows[index].reserved > 0 { counts[book.campaigns[index].id] = Int(rows[index].reserved) }
        return counts
    }

    var hasGoals: Bool { rows.contains { $0.goal != nil } }

    func progress(_ index: Int, at now: Int64) -> CampaignProgress {
        let row = rows[index]
        let offset = row.zone.offset(at: now)
        return CampaignProgress(
            campaign: book.campaigns[index], delivered: row.delivered, reserved: row.reserved + row.others,
            due: row.pace.due(at: now, offset: offset), dueToday: row.pace.dueToday(at: now, offset: offset),
            obstacle: CampaignObstacle(rawValue: current.obstacles[index]))
    }

    // MARK: Time

    /// Works out anew what may be given, where the time for that has come.
    mutating func advance(to now: Int64) {
        guard now < last || now >= last + Self.tick || last == .min else { return }
        last = now
        expire(now)
        for index in rows.indices { look(at: index, now) }
        hasNews = false
    }

    private mutating func look(at index: Int, _ now: Int64) {
        let campaign = book.campaigns[index]
        let offset = offset(of: rows[index].zone, at: now)
        var obstacle: CampaignObstacle?
        if let starts = campaign.starts, now < starts { obstacle = .notStarted }
        if let ends = campaign.ends, now >= ends { obstacle = .ended }
        if obstacle == nil, !rows[index].pace.isOpen(at: now, offset: offset) { obstacle = .outsideHours }
        if rows[index].goal == nil {
            current.room[index] = .max
        } else {
            let day = CampaignPace.startOfDay(now, offset: offset)
            if rows[index].day == .min, obstacle == nil { obstacle = .unknownDelivery }
            if rows[index].day != day, rows[index].day != .min { (rows[index].day, rows[index].delivered.today) = (day, 0) }
            let due = due(index, now, offset)
            // Among several, a part is given out once: what the others have given meanwhile is not known.
            if hasNews || processes == 1 { current.room[index] = part(of: due.room, index) }
            current.urgency[index] = due.urgency
            if obstacle == nil, current.room[index] <= 0 { obstacle = due.obstacle }
        }
        current.obstacles[index] = obstacle?.rawValue ?? 0
    }

    private func due(_ index: Int, _ now: Int64, _ offset: Int64) -> CampaignPace.Due {
        let row = rows[index]
        let reserved = row.goal?.unit == .impressions ? row.reserved + row.others : 0
        return row.pace.due(
            at: now, offset: offset, delivered: row.delivered.total + reserved, today: row.delivered.today + reserved, lookahead: Self.tick)
    }

    private func part(of room: Int64, _ index: Int) -> Int32 {
        guard room > 0 else { return 0 }
        if rows[index].goal?.unit == .clicks { return .max }
        guard let processes else { return Int32(clamping: min(room, Self.unheard)) }
        let turn = (rank + last / Self.turn) % processes
        return Int32(clamping: room / processes + (turn < room % processes ? 1 : 0))
    }

    private mutating func expire(_ now: Int64) {
        while let slot = given.first, slot.end <= now || slot.end > now + 2 * lifetime {
            for (index, count) in slot.counts { rows[Int(index)].reserved -= count }
            given.removeFirst()
        }
    }

    private mutating func offset(of zone: CampaignZone, at now: Int64) -> Int64 {
        let quarter = now / 900_000
        if let known = offsets[zone], known.quarter == quarter { return known.offset }
        let offset = zone.offset(at: now)
        offsets[zone] = (quarter, offset)
        return offset
    }

    // MARK: Giving

    /// Notes that a place was given.
    mutating func give(_ index: Int, at now: Int64) {
        guard let goal = rows[index].goal, goal.unit == .impressions else { return }
        rows[index].reserved += 1
        let length = max(1, lifetime / Self.slots)
        let end = (now / length + 1) * length + lifetime
        if given.last?.end != end { given.append(Slot(end: end)) }
        given[given.count - 1].counts[Int32(index), default: 0] += 1
        if current.room[index] < .max { current.room[index] -= 1 }
        guard current.room[index] <= 0 else { return }
        let delivered = rows[index].delivered
        let reserved = rows[index].reserved + rows[index].others
        let reached = goal.obstacle(delivered.total + reserved, delivered.today + reserved) ?? .aheadOfPace
        current.obstacles[index] = reached.rawValue
    }

    /// Has a place that was just given be free again.
    mutating func takeBack(_ index: Int) {
        guard release(index) else { return }
        if current.room[index] < .max { current.room[index] += 1 }
        if current.room[index] > 0, rows[index].day != .min { current.obstacles[index] = 0 }
    }

    /// Ends the newest reservation of a campaign: most pages are seen soon, or not at all. Whether there was one.
    private mutating func release(_ index: Int) -> Bool {
        guard let slot = given.lastIndex(where: { $0.counts[Int32(index)] ?? 0 > 0 }) else { return false }
        given[slot].counts[Int32(index), default: 1] -= 1
        rows[index].reserved -= 1
        return true
    }

    /// Notes what the ledger has counted.
    mutating func settle(_ index: Int, _ kind: LedgerEvent.Kind) {
        guard let goal = rows[index].goal else { return }
        if kind == .impression { _ = release(index) }
        guard kind == goal.kind else { return }
        rows[index].delivered.total += 1
        rows[index].delivered.today += 1
        guard kind == .click else { return }
        // An exhausted campaign leaves at once.
        let delivered = rows[index].delivered
        if let reached = goal.obstacle(delivered.total, delivered.today) {
            current.room[index] = 0
            current.obstacles[index] = reached.rawValue
        }
    }
}

extension Campaign.Goal {
    /// Whether it is reached by so many, in all or today.
    fileprivate func obstacle(_ delivered: Int64, _ today: Int64) -> CampaignObstacle? {
        if let total, delivered >= Int64(total) { return .goalReached }
        if let daily, today >= Int64(daily) { return .dailyGoalReached }
        return nil
    }
}
