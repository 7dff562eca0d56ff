/// How the campaigns of a book stand in one process: what is delivered, what is given out and not seen yet, and what may still be given.
///
/// A place that is given counts as delivered until it is seen, when the ledger counts it, or until its reservation is over. Processes that share a
/// ledger hold parts of what is left of a goal: what is delivered, what all of them have given out, and what all of them may still give are never
/// more than the goal. A process gives what it holds, and nothing of it once the others may take it to be gone.
struct DeliveryState {
    private struct Row {
        /// It stays when the campaigns change.
        var account = BudgetLease()
        /// What the pace has for this process.
        var part: Int64 = 0
        let pace: CampaignPace
        /// Its number among the book's.
        let zone: Int
        let goal: Campaign.Goal?
    }

    /// What an exchange has to do.
    enum Exchange {
        case nothing
        /// Nobody else was there the last time: it is enough to see that this is still so.
        case readOnly
        case complete
    }

    /// For how long the others take a process to be there that tells nothing. Milliseconds.
    static let leaseDuration: Int64 = 10_000
    /// So much before that, it gives nothing any more. Milliseconds.
    private static let leaseSafetyMargin: Int64 = 1_000
    /// A process that is alone holds all that is left, and half of it where that is more: another one that starts finds something.
    private static let scale: Int64 = 1_000
    /// Milliseconds for which what may be given is worked out at once.
    static let tick: Int64 = 100
    /// Campaigns and places that are noted until the others are told of them.
    private static let elsewhereCapacity = 65_536
    /// Milliseconds after which another process gives what cannot be divided.
    private static let indivisibleTurn: Int64 = 2_000

    let book: CampaignIndex
    private(set) var current = AdDecision.DeliverySnapshot()
    private var rows: [Row]
    /// Of each campaign, until when what was worked out holds while nothing happens to it; the least number where something did. Of a thousand
    /// campaigns few have to be looked at each time.
    private var leases: ContiguousArray<Int64>
    /// Given out by this process, and neither seen nor over.
    private var reservations: GoalReservations
    private let lifetime: Int64
    /// Seen through this process, given by others that have not been told yet.
    private var seenElsewhere: [RemoteImpressions: Int] = [:]
    /// Given by this process, seen through others, as the exchange that goes on says.
    private var seenByOthers: [RemoteImpressions] = []
    private let process: UInt16
    private let isShared: Bool
    private let tick: Int64
    private var last: Int64 = .min
    private var zones = LocalTimeCache()
    /// Those that share the ledger, with this one; nil until they have been heard.
    private(set) var processes: Int64?
    /// Since when there has been no other one. Milliseconds since 1970-01-01 UTC.
    private var aloneSince: Int64?
    /// How many of them are before this one.
    private var rank: Int64 = 0
    private var hasNews = true
    /// When what is held was last written, and until when it may be given.
    private var exchanged: Int64 = 0
    private var ends: Int64 = .min
    /// Alone, it could hold more than it does.
    private var wantsMore = false
    /// What is held is of goals that are others now.
    private var hasOtherGoals = false
    /// Whether there are goals or caps: what processes have to tell each other.
    let hasLimits: Bool
    /// Whether the ledger has not told yet how a goal stands.
    private var hasUnknown: Bool

    /// - Parameters:
    ///   - lifetime: of a reservation, in milliseconds.
    ///   - isShared: whether there may be other processes.
    ///   - process: stands for this one.
    ///   - tick: milliseconds for which what may be given is worked out at once.
    init(_ book: CampaignIndex, lifetime: Int64, isShared: Bool, process: UInt16, tick: Int64 = tick) {
        (self.book, self.isShared, self.process, processes) = (book, isShared, process, isShared ? nil : 1)
        (self.tick, self.lifetime) = (tick, lifetime)
        reservations = GoalReservations(campaigns: book.campaigns.count, lifetime: max(1, lifetime))
        var numbers: [CampaignTimeZone: Int] = [:]
        for zone in book.campaigns.map(\.zone) where numbers[zone] == nil { numbers[zone] = zones.add(zone.clocks) }
        rows = book.campaigns.map { Row(pace: CampaignPace($0), zone: numbers[$0.zone] ?? 0, goal: $0.goal) }
        leases = ContiguousArray(repeating: .min, count: rows.count)
        hasUnknown = rows.contains { $0.goal != nil }
        hasLimits = hasUnknown || book.hasCaps
        current.obstacles = ContiguousArray(repeating: IneligibilityReason.unknownDelivery.rawValue, count: rows.count)
        current.room = ContiguousArray(repeating: 0, count: rows.count)
        current.urgency = ContiguousArray(repeating: 1, count: rows.count)
        current.reserved = ContiguousArray(repeating: GoalReservations.Count(), count: rows.count)
    }

    /// What is asked of the ledger at a moment.
    mutating func questions(at now: Int64) -> [DeliveryQuery] {
        rows.indices.compactMap { index in
            guard let goal = rows[index].goal else { return nil }
            let day = zones.time(in: rows[index].zone, at: now).day
            return DeliveryQuery(campaign: book.campaigns[index].id, kind: goal.kind, day: day.lowerBound)
        }
    }

    /// Has those that were not known before begin with nothing, where no ledger says more.
    mutating func begin(at now: Int64) {
        for question in questions(at: now) {
            if let index = book.index(of: question.campaign) { rows[index].account.beginWithNothing(on: question.day) }
        }
        (hasNews, last, hasUnknown) = (true, .min, false)
    }

    /// What a book before this one had given out.
    mutating func migrate(from old: DeliveryState) {
        let book = book
        func new(_ index: Int32) -> Int32? { book.index(of: old.book.campaigns[Int(index)].id).map { Int32($0) } }
        reservations.migrate(from: old.reservations, number: new)
        seenElsewhere = old.seenElsewhere
        (processes, rank, exchanged, ends, aloneSince) = (old.processes, old.rank, old.exchanged, old.ends, old.aloneSince)
        hasOtherGoals = old.hasOtherGoals
        for (index, row) in old.rows.enumerated() {
            guard let index = new(Int32(index)), let goal = rows[Int(index)].goal else { continue }
            rows[Int(index)].account = row.account
            // What is delivered was of another unit, or what is held of another goal.
            if row.goal?.unit != goal.unit { rows[Int(index)].account.forget() }
            if row.goal != goal { hasOtherGoals = true }
        }
        findUnknown()
    }

    private mutating func findUnknown() { hasUnknown = rows.contains { $0.goal != nil && !$0.account.isKnown } }

    // MARK: Among several processes

    /// Whether a goal is new or another one, or what is held must not be given any more: pages wait for an exchange then.
    func needsDeliveryCounts(at now: Int64) -> Bool {
        isShared && hasLimits && (hasUnknown || hasOtherGoals || now >= ends || now < exchanged - Self.leaseDuration)
    }

    func exchange(at now: Int64) -> Exchange {
        guard hasLimits else { return .nothing }
        let isAlone = processes == 1 && !wantsMore && !needsDeliveryCounts(at: now) && now < exchanged + Self.leaseDuration / 2
        return isAlone ? .readOnly : .complete
    }

    /// While it has nothing to tell, it hears nothing either.
    mutating func resetPeers() { if isShared { (processes, ends, aloneSince) = (nil, .min, nil) } }

    /// Whether anything that others have given may still be waiting to be seen: they are there, or were not long ago.
    func mayHaveOthers(at now: Int64) -> Bool { aloneSince.map { now < $0 + lifetime } ?? isShared }

    /// Whether others are there, as far as is known.
    var hasOthers: Bool { isShared && processes != 1 }

    /// Takes what the ledger says, and says what this process holds from now on. Until that is on disk it gives no more than it held before.
    mutating func proposeLeases(_ situation: BudgetSyncState, to questions: [DeliveryQuery], at now: Int64) -> SharedBudgetLeases {
        expire(now)
        (processes, rank) = (Int64(situation.processes) + 1, Int64(situation.before))
        aloneSince = situation.processes == 0 ? min(aloneSince ?? now, now) : nil
        // What others saw counts as given out here until this exchange is on disk: they may tell it once more otherwise.
        seenByOthers = situation.seen
        var reservations = reservations
        if !seenByOthers.isEmpty { release(seenByOthers, from: &reservations) }
        var holdings: [String: SharedBudgetLease] = [:]
        for (question, delivered) in zip(questions, situation.delivered) {
            guard let index = book.index(of: question.campaign), let goal = rows[index].goal, goal.kind == question.kind else { continue }
            let others = situation.others[question.campaign] ?? SharedBudgetLease()
            rows[index].account.update(delivered, on: question.day, servedByOthers: Int64(others.served))
            // Of clicks nothing is reserved: what is held are the places that may be given until the next exchange, each of which may be clicked.
            let reserved = goal.unit == .impressions ? reservations[index].all : 0
            let left = goal.left(of: delivered) - reserved - rows[index].account.others
            let offered = min(share(of: left, at: now), max(0, left - Int64(others.allowed)))
            rows[index].account.propose(offered, of: left)
            let holding = SharedBudgetLease(served: Int(reserved), allowed: Int(offered))
            if holding != SharedBudgetLease() { holdings[question.campaign] = holding }
        }
        findUnknown()
        (hasNews, last, wantsMore, hasOtherGoals) = (true, .min, false, false)
        return SharedBudgetLeases(holdings)
    }

    /// Holds what was offered: it is on disk.
    mutating func commitLeases(since now: Int64) {
        for index in rows.indices { rows[index].account.commit() }
        release(seenByOthers, from: &reservations)
        seenByOthers = []
        (exchanged, ends) = (now, now + Self.leaseDuration - Self.leaseSafetyMargin)
        (hasNews, last) = (true, .min)
    }

    /// Holds what it held before, as far as it was still offered.
    mutating func dropLeases() {
        for index in rows.indices { rows[index].account.drop() }
        (wantsMore, seenByOthers) = (true, [])
    }

    private func release(_ seen: [RemoteImpressions], from reservations: inout GoalReservations) {
        for seen in seen {
            if let index = book.index(of: seen.campaign) { reservations.release(index, seen.reservation, count: Int64(seen.count)) }
        }
    }

    /// What the others are to be told that was seen here. It is told once: where that fails, their reservations go on until they are over.
    mutating func drainSeenElsewhere() -> [RemoteImpressions] {
        defer { seenElsewhere = [:] }
        return seenElsewhere.map { RemoteImpressions(campaign: $0.campaign, reservation: $0.reservation, count: $1) }
    }

    /// What it has given out and nobody has seen; it gives nothing more.
    mutating func returnLeases() -> SharedBudgetLeases {
        var holdings: [String: SharedBudgetLease] = [:]
        for index in rows.indices {
            rows[index].account.reset()
            let reserved = reservations[index].all
            if reserved > 0 { holdings[book.campaigns[index].id] = SharedBudgetLease(served: Int(reserved)) }
        }
        (ends, last, hasNews) = (.min, .min, true)
        return SharedBudgetLeases(holdings, isThere: false)
    }

    /// A process's part of what neither is delivered nor given out.
    private func share(of left: Int64, at now: Int64) -> Int64 {
        guard left > 0, let processes else { return 0 }
        guard processes > 1 else { return left <= Self.scale ? left : left / 2 }
        let turn = (rank + now / Self.indivisibleTurn) % processes
        return left / processes + (turn < left % processes ? 1 : 0)
    }

    func progress(_ index: Int, at now: Int64) -> CampaignProgress {
        let (row, account) = (rows[index], rows[index].account)
        return CampaignProgress(
            campaign: book.campaigns[index], delivered: row.goal == nil ? nil : account.delivered,
            reserved: reservations[index].all + account.others,
            due: row.pace.due(at: now), dueToday: row.pace.dueToday(at: now, in: zones.day(in: row.zone, at: now)),
            obstacle: IneligibilityReason(rawValue: current.obstacles[index]))
    }

    // MARK: Time

    /// Works out anew what may be given, where the time for that has come, or at once.
    mutating func advance(to now: Int64, isAtOnce: Bool = false) {
        guard isAtOnce || now < last || now >= last + tick || last == .min else { return }
        let areAll = hasNews || now < last
        last = now
        expire(now)
        var hasChanged = false
        for index in leases.indices where areAll || now >= leases[index] {
            refresh(at: index, now)
            hasChanged = true
        }
        hasNews = false
        if hasChanged { current.version &+= 1 }
    }

    private mutating func refresh(at index: Int, _ now: Int64) {
        let time = zones.time(in: rows[index].zone, at: now)
        var obstacle: IneligibilityReason?
        if let starts = rows[index].pace.starts, now < starts { obstacle = .notStarted }
        if let ends = rows[index].pace.ends, now >= ends { obstacle = .ended }
        if book.campaigns[index].isPaused { obstacle = .paused }
        if obstacle == nil, !rows[index].pace.isOpen(at: now, offset: time.offset) { obstacle = .outsideHours }
        if rows[index].goal == nil {
            current.room[index] = .max
        } else {
            let day = time.day.lowerBound
            if !rows[index].account.isKnown {
                if obstacle == nil { obstacle = .unknownDelivery }
            } else if rows[index].account.advance(to: day) {
                wantsMore = true
            }
            // What is not shown now is not paced either, but for the part that it has until there is news.
            if obstacle == nil || hasNews {
                let due = due(index, now, time.day)
                // Among several, a part is given out once: what the others have given meanwhile is not known.
                if hasNews || processes == 1 { rows[index].part = part(of: due.room, index) }
                current.urgency[index] = due.urgency
            }
            current.reserved[index] = reservations[index]
            current.room[index] = room(index, now)
            if obstacle == nil, current.room[index] <= 0 { obstacle = exhaustion(index) }
        }
        current.obstacles[index] = obstacle?.rawValue ?? 0
        leases[index] = end(of: index, now, time.day, isShown: obstacle.map { $0.isOfGoal } ?? true)
    }

    /// Until when what was worked out now holds, while nothing happens to the campaign.
    private func end(of index: Int, _ now: Int64, _ day: Range<Int64>, isShown: Bool) -> Int64 {
        let pace = rows[index].pace
        var end = Int64.max
        if let starts = pace.starts, now < starts { end = starts }
        if let ends = pace.ends, now < ends { end = min(end, ends) }
        // Days and hours begin with quarters of an hour.
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

    /// What may be given now: what the pace has for this process, of what it holds.
    private func room(_ index: Int, _ now: Int64) -> Int32 {
        guard isShared else { return Int32(clamping: rows[index].part) }
        guard now < ends else { return 0 }
        // One that is alone hears of each click before it gives the next place.
        let isHeld = rows[index].goal?.unit == .impressions || processes != 1
        return Int32(clamping: isHeld ? min(rows[index].part, rows[index].account.remaining) : rows[index].part)
    }

    /// Why nothing of it may be given.
    private func exhaustion(_ index: Int) -> IneligibilityReason {
        let (account, goal) = (rows[index].account, rows[index].goal)
        if let reached = account.obstacle(goal) { return reached }
        guard goal?.unit == .impressions else { return hasOthers && account.remaining <= 0 ? .reserved : .pacing }
        let isGivenOut = account.obstacle(goal, reserved: reservations[index].all + account.others) != nil
        return isGivenOut || isShared && account.remaining <= 0 ? .reserved : .pacing
    }

    private mutating func expire(_ now: Int64) {
        // What nobody has seen may be given once more.
        for campaign in reservations.expire(now) {
            leases[Int(campaign)] = .min
            wantsMore = true
        }
    }

    // MARK: Giving

    /// What somebody without a name has of each campaign, by the address.
    func reserved(by address: UInt16) -> [Int32: Int64] { reservations.reserved(by: address) }

    /// Notes that a place was given; nil where it is of no goal that counts places.
    ///
    /// - Parameter address: of whoever has no name; 0 for who has one.
    mutating func reserve(_ index: Int, for address: UInt16, at now: Int64) -> ReservationID? {
        guard let goal = rows[index].goal else { return nil }
        if goal.unit == .clicks, !hasOthers { return nil }
        consume(1, of: index)
        defer { recordUse(of: index) }
        guard goal.unit == .impressions else { return nil }
        let slot = reservations.add(index, address: address, at: now)
        current.reserved[index] = reservations[index]
        return ReservationID(process: process, slot: slot, address: address)
    }

    /// Reserves a place anew that was given and that nobody has seen; nil if it is not reserved here.
    mutating func renew(_ index: Int, _ place: ReservationID, at now: Int64) -> ReservationID? {
        guard place.process == process, reservations.release(index, place) > 0 else { return nil }
        return ReservationID(process: process, slot: reservations.add(index, address: place.address, at: now), address: place.address)
    }

    /// Whether so much is delivered as the goal asks for, in all or for its day.
    func isReached(_ index: Int) -> Bool { rows[index].account.obstacle(rows[index].goal) != nil }

    private mutating func recordUse(of index: Int) {
        if rows[index].account.isRunningLow { wantsMore = true }
        if current.room[index] <= 0 { current.obstacles[index] = exhaustion(index).rawValue }
    }

    /// Has a place that was just given be free again.
    mutating func undoReservation(_ index: Int, _ place: ReservationID?) {
        guard let place, release(index, place) else { return }
        consume(-1, of: index)
        if current.room[index] > 0, rows[index].account.isKnown { current.obstacles[index] = 0 }
    }

    private mutating func consume(_ count: Int64, of index: Int) {
        leases[index] = .min
        rows[index].part -= count
        rows[index].account.consume(count)
        if current.room[index] < .max { current.room[index] -= Int32(count) }
    }

    /// Ends the reservation of a place. Whether there still was one.
    private mutating func release(_ index: Int, _ place: ReservationID) -> Bool {
        guard reservations.release(index, place) > 0 else { return false }
        leases[index] = .min
        current.reserved[index] = reservations[index]
        return true
    }

    /// Has the process that gave a place told that it was seen, where that is another one.
    private mutating func queueRemote(_ index: Int, _ place: ReservationID) {
        guard isShared, processes != 1 else { return }
        let seen = RemoteImpressions(campaign: book.campaigns[index].id, reservation: place, count: 0)
        if seenElsewhere.count < Self.elsewhereCapacity || seenElsewhere[seen] != nil { seenElsewhere[seen, default: 0] += 1 }
    }

    /// Notes what the ledger has counted.
    ///
    /// - Parameter place: as the event's token names it.
    mutating func didCommit(_ index: Int, _ kind: LedgerEvent.Kind, _ place: ReservationID?) {
        guard let goal = rows[index].goal else { return }
        if kind == .impression, let place {
            if place.process == process { _ = release(index, place) } else { queueRemote(index, place) }
        }
        guard kind == goal.kind else { return }
        leases[index] = .min
        rows[index].account.countOne()
        // An exhausted campaign leaves at once.
        if let reached = rows[index].account.obstacle(goal) {
            current.room[index] = 0
            current.obstacles[index] = reached.rawValue
        }
    }
}
