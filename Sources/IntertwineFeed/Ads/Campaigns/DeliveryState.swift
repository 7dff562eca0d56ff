/// The delivery state of an index's campaigns in one process: delivered units, reserved slots, and slots that may still be served.
/// Delivered units, the reservations of all processes and the leases of all processes together never exceed the goal.
struct DeliveryState {
    struct Row {
        var account = BudgetLease()
        var part: Int64 = 0
        let pace: CampaignPace
        let zone: Int
        let goal: Campaign.Goal?
    }

    enum Exchange {
        case nothing
        case readOnly
        case complete
    }

    /// The time in milliseconds after which other processes treat a silent process as gone.
    static let leaseDuration: Int64 = 10_000
    /// The time in milliseconds before the end of its lease at which a process stops serving slots.
    private static let leaseSafetyMargin: Int64 = 1_000
    /// Above it, the process leases half, so that a new process finds slots.
    private static let scale: Int64 = 1_000
    /// The interval between two evaluations, in milliseconds.
    static let tick: Int64 = 100
    /// The time in milliseconds after which an indivisible remainder moves to another process.
    private static let indivisibleTurn: Int64 = 2_000

    let campaignIndex: CampaignIndex
    var current = AdDecision.DeliverySnapshot()
    var rows: [Row]
    /// The moment for each campaign until which its evaluation is valid if no event occurs; the smallest number if one occurred. Why: Of a
    /// thousand campaigns, only a few need an evaluation at each tick.
    var leases: ContiguousArray<Int64>
    var reservations: GoalReservations
    private let lifetime: Int64
    var seenElsewhere: [RemoteImpressions: Int] = [:]
    private var seenByOthers: [RemoteImpressions] = []
    let process: UInt16
    let isShared: Bool
    private let tick: Int64
    private var last: Int64 = .min
    private var zones = LocalTimeCache()
    private(set) var processes: Int64?
    /// The moment since which no other process is present, in milliseconds since 1970-01-01 UTC; nil if others are present or may be.
    private var aloneSince: Int64?
    private var rank: Int64 = 0
    private var hasChanges = true
    private var exchanged: Int64 = 0
    private var ends: Int64 = .min
    /// True if a complete exchange is useful for a process without others, because it could get larger leases.
    var needsBudget = false
    private var hasOtherGoals = false
    /// True if any campaign has a goal or a cap, so that processes must exchange data.
    let hasLimits: Bool
    private var hasUnknown: Bool

    init(_ campaignIndex: CampaignIndex, lifetime: Int64, isShared: Bool, process: UInt16, tick: Int64 = tick) {
        (self.campaignIndex, self.isShared, self.process, processes) = (campaignIndex, isShared, process, isShared ? nil : 1)
        (self.tick, self.lifetime) = (tick, lifetime)
        reservations = GoalReservations(campaigns: campaignIndex.campaigns.count, lifetime: max(1, lifetime))
        var numbers: [CampaignTimeZone: Int] = [:]
        for zone in campaignIndex.campaigns.map(\.zone) where numbers[zone] == nil { numbers[zone] = zones.add(zone.clocks) }
        rows = campaignIndex.campaigns.map { Row(pace: CampaignPace($0), zone: numbers[$0.zone] ?? 0, goal: $0.goal) }
        leases = ContiguousArray(repeating: .min, count: rows.count)
        hasUnknown = rows.contains { $0.goal != nil }
        hasLimits = hasUnknown || campaignIndex.hasCaps
        current.obstacles = ContiguousArray(repeating: IneligibilityReason.unknownDelivery.rawValue, count: rows.count)
        current.room = ContiguousArray(repeating: 0, count: rows.count)
        current.urgency = ContiguousArray(repeating: 1, count: rows.count)
        current.reserved = ContiguousArray(repeating: GoalReservations.Count(), count: rows.count)
    }

    mutating func questions(at now: Int64) -> [DeliveryQuery] {
        rows.indices.compactMap { index in
            guard let goal = rows[index].goal else { return nil }
            let day = zones.time(in: rows[index].zone, at: now).day
            return DeliveryQuery(campaign: campaignIndex.campaigns[index].id, kind: goal.kind, day: day.lowerBound)
        }
    }

    mutating func begin(at now: Int64) {
        for question in questions(at: now) {
            if let index = campaignIndex.index(of: question.campaign) { rows[index].account.beginWithNothing(on: question.day) }
        }
        (hasChanges, last, hasUnknown) = (true, .min, false)
    }

    mutating func migrate(from old: DeliveryState) {
        let campaignIndex = campaignIndex
        func new(_ index: Int32) -> Int32? { campaignIndex.index(of: old.campaignIndex.campaigns[Int(index)].id).map { Int32($0) } }
        reservations.migrate(from: old.reservations, number: new)
        seenElsewhere = old.seenElsewhere
        (processes, rank, exchanged, ends, aloneSince) = (old.processes, old.rank, old.exchanged, old.ends, old.aloneSince)
        hasOtherGoals = old.hasOtherGoals
        for (index, row) in old.rows.enumerated() {
            guard let index = new(Int32(index)), let goal = rows[Int(index)].goal else { continue }
            rows[Int(index)].account = row.account
            // A changed unit invalidates the counts. A changed goal invalidates the lease.
            if row.goal?.unit != goal.unit { rows[Int(index)].account.forget() }
            if row.goal != goal { hasOtherGoals = true }
        }
        findUnknown()
    }

    private mutating func findUnknown() { hasUnknown = rows.contains { $0.goal != nil && !$0.account.isKnown } }

    // MARK: Several processes

    func needsDeliveryCounts(at now: Int64) -> Bool {
        isShared && hasLimits && (hasUnknown || hasOtherGoals || now >= ends || now < exchanged - Self.leaseDuration)
    }

    func exchange(at now: Int64) -> Exchange {
        guard hasLimits else { return .nothing }
        let isAlone = processes == 1 && !needsBudget && !needsDeliveryCounts(at: now) && now < exchanged + Self.leaseDuration / 2
        return isAlone ? .readOnly : .complete
    }

    /// Forgets other processes while no exchange takes place, because nothing is known about them.
    mutating func resetPeers() { if isShared { (processes, ends, aloneSince) = (nil, .min, nil) } }

    func mayHaveOthers(at now: Int64) -> Bool { aloneSince.map { now < $0 + lifetime } ?? isShared }

    var hasOthers: Bool { isShared && processes != 1 }

    mutating func proposeLeases(_ situation: BudgetSyncState, to questions: [DeliveryQuery], at now: Int64) -> SharedBudgetLeases {
        expire(now)
        (processes, rank) = (Int64(situation.processes) + 1, Int64(situation.before))
        aloneSince = situation.processes == 0 ? min(aloneSince ?? now, now) : nil
        // Until this exchange is on disk, impressions reported by other processes still count as reserved here, because a failed exchange
        // repeats the report.
        seenByOthers = situation.seen
        var reservations = reservations
        if !seenByOthers.isEmpty { release(seenByOthers, from: &reservations) }
        var holdings: [String: SharedBudgetLease] = [:]
        for (question, delivered) in zip(questions, situation.delivered) {
            guard let index = campaignIndex.index(of: question.campaign), let goal = rows[index].goal, goal.kind == question.kind else {
                continue
            }
            let others = situation.others[question.campaign] ?? SharedBudgetLease()
            rows[index].account.update(delivered, on: question.day, servedByOthers: Int64(others.served))
            // Clicks have no reservations. The lease of a click goal consists of slots that may be served until the next exchange, each of which may
            // be clicked.
            let reserved = goal.unit == .impressions ? reservations[index].all : 0
            let left = goal.left(of: delivered) - reserved - rows[index].account.others
            let offered = min(share(of: left, at: now), max(0, left - Int64(others.allowed)))
            rows[index].account.propose(offered, of: left)
            let holding = SharedBudgetLease(served: Int(reserved), allowed: Int(offered))
            if holding != SharedBudgetLease() { holdings[question.campaign] = holding }
        }
        findUnknown()
        (hasChanges, last, needsBudget, hasOtherGoals) = (true, .min, false, false)
        return SharedBudgetLeases(holdings)
    }

    mutating func commitLeases(since now: Int64) {
        for index in rows.indices { rows[index].account.commit() }
        release(seenByOthers, from: &reservations)
        seenByOthers = []
        (exchanged, ends) = (now, now + Self.leaseDuration - Self.leaseSafetyMargin)
        (hasChanges, last) = (true, .min)
    }

    mutating func dropLeases() {
        for index in rows.indices { rows[index].account.drop() }
        (needsBudget, seenByOthers) = (true, [])
    }

    private func release(_ seen: [RemoteImpressions], from reservations: inout GoalReservations) {
        for seen in seen {
            if let index = campaignIndex.index(of: seen.campaign) {
                reservations.release(index, seen.reservation, count: Int64(seen.count))
            }
        }
    }

    mutating func drainSeenElsewhere() -> [RemoteImpressions] {
        defer { seenElsewhere = [:] }
        return seenElsewhere.map { RemoteImpressions(campaign: $0.campaign, reservation: $0.reservation, count: $1) }
    }

    mutating func returnLeases() -> SharedBudgetLeases {
        var holdings: [String: SharedBudgetLease] = [:]
        for index in rows.indices {
            rows[index].account.reset()
            let reserved = reservations[index].all
            if reserved > 0 { holdings[campaignIndex.campaigns[index].id] = SharedBudgetLease(served: Int(reserved)) }
        }
        (ends, last, hasChanges) = (.min, .min, true)
        return SharedBudgetLeases(holdings, isThere: false)
    }

    private func share(of left: Int64, at now: Int64) -> Int64 {
        guard left > 0, let processes else { return 0 }
        guard processes > 1 else { return left <= Self.scale ? left : left / 2 }
        let turn = (rank + now / Self.indivisibleTurn) % processes
        return left / processes + (turn < left % processes ? 1 : 0)
    }

    func progress(_ index: Int, at now: Int64) -> CampaignProgress {
        let (row, account) = (rows[index], rows[index].account)
        return CampaignProgress(
            campaign: campaignIndex.campaigns[index], delivered: row.goal == nil ? nil : account.delivered,
            reserved: reservations[index].all + account.others,
            due: row.pace.due(at: now), dueToday: row.pace.dueToday(at: now, in: zones.day(in: row.zone, at: now)),
            obstacle: IneligibilityReason(rawValue: current.obstacles[index]))
    }

    // MARK: Time

    mutating func advance(to now: Int64, isAtOnce: Bool = false) {
        guard isAtOnce || now < last || now >= last + tick || last == .min else { return }
        let areAll = hasChanges || now < last
        last = now
        expire(now)
        var hasChanged = false
        for index in leases.indices where areAll || now >= leases[index] {
            refresh(at: index, now)
            hasChanged = true
        }
        hasChanges = false
        if hasChanged { current.version &+= 1 }
    }

    private mutating func refresh(at index: Int, _ now: Int64) {
        let time = zones.time(in: rows[index].zone, at: now)
        var obstacle: IneligibilityReason?
        if let starts = rows[index].pace.starts, now < starts { obstacle = .notStarted }
        if let ends = rows[index].pace.ends, now >= ends { obstacle = .ended }
        if campaignIndex.campaigns[index].isPaused { obstacle = .paused }
        if obstacle == nil, !rows[index].pace.isOpen(at: now, offset: time.offset) { obstacle = .outsideHours }
        if rows[index].goal == nil {
            current.room[index] = .max
        } else {
            let day = time.day.lowerBound
            if !rows[index].account.isKnown {
                if obstacle == nil { obstacle = .unknownDelivery }
            } else if rows[index].account.advance(to: day) {
                needsBudget = true
            }
            // A campaign that is not shown is paced only after news, which gives it the share that it keeps until the next news.
            if obstacle == nil || hasChanges {
                let due = due(index, now, time.day)
                // With several processes, a share is used only once, because the deliveries of the others since the exchange are unknown.
                if hasChanges || processes == 1 { rows[index].part = part(of: due.room, index) }
                current.urgency[index] = due.urgency
            }
            current.reserved[index] = reservations[index]
            current.room[index] = room(index, now)
            if obstacle == nil, current.room[index] <= 0 { obstacle = exhaustion(index) }
        }
        current.obstacles[index] = obstacle?.rawValue ?? 0
        leases[index] = end(of: index, now, time.day, isShown: obstacle.map { $0.isOfGoal } ?? true)
    }

    private func end(of index: Int, _ now: Int64, _ day: Range<Int64>, isShown: Bool) -> Int64 {
        let pace = rows[index].pace
        var end = Int64.max
        if let starts = pace.starts, now < starts { end = starts }
        if let ends = pace.ends, now < ends { end = min(end, ends) }
        // Days and hours begin at quarters of an hour.
        if pace.hasTimes || rows[index].goal != nil { end = min(end, LocalTimeCache.end(of: now)) }
        guard rows[index].goal != nil else { return end }
        if isShared, now < ends { end = min(end, ends) }
        return isShown ? min(end, pace.nextUnit(at: now + tick, in: day) - tick) : end
    }

    private func due(_ index: Int, _ now: Int64, _ day: Range<Int64>) -> CampaignPace.PacingTarget {
        let account = rows[index].account
        let reserved = rows[index].goal?.unit == .impressions ? reservations[index].all + account.others : 0
        return rows[index].pace.due(
            at: now, in: day, delivered: account.delivered.total + reserved, today: account.delivered.today + reserved, lookahead: tick)
    }

    private func part(of room: Int64, _ index: Int) -> Int64 {
        guard room > 0, let processes else { return 0 }
        if rows[index].goal?.unit == .clicks { return .max }
        let turn = (rank + last / Self.indivisibleTurn) % processes
        return room / processes + (turn < room % processes ? 1 : 0)
    }

    private func room(_ index: Int, _ now: Int64) -> Int32 {
        guard isShared else { return Int32(clamping: rows[index].part) }
        guard now < ends else { return 0 }
        // A process without others receives each click before it serves the next slot, so a click goal needs no lease.
        let isHeld = rows[index].goal?.unit == .impressions || processes != 1
        return Int32(clamping: isHeld ? min(rows[index].part, rows[index].account.remaining) : rows[index].part)
    }

    func exhaustion(_ index: Int) -> IneligibilityReason {
        let (account, goal) = (rows[index].account, rows[index].goal)
        if let reached = account.obstacle(goal) { return reached }
        guard goal?.unit == .impressions else { return hasOthers && account.remaining <= 0 ? .reserved : .pacing }
        let isExhausted = account.obstacle(goal, reserved: reservations[index].all + account.others) != nil
        return isExhausted || isShared && account.remaining <= 0 ? .reserved : .pacing
    }
}
