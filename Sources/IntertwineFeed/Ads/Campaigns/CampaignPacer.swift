struct CampaignPacer {
    private struct Row {
        let pace: CampaignPace
        let zone: Int
        let goal: Campaign.Goal?
        var counts: DeliveryCount?
        var day: Int64 = .min
        var own: (since: Int64, before: Int64) = (0, 0)
        var estimate: DeliveryEstimate
        var offers: (unsent: Int64, sending: Int64) = (0, 0)
        var validUntil = Int64.min

        var total: Int64 { (counts?.total ?? 0) + own.since + own.before }
        var today: Int64 { (counts?.today ?? 0) + own.since + own.before }
    }

    /// The interval between two evaluations, in milliseconds.
    static let tick: Int64 = 100
    /// The time in milliseconds after which goals rest if the ledger does not answer.
    private static let patience: Int64 = 10_000
    static let leastRoom = 1e-6

    let campaignIndex: CampaignIndex
    private(set) var current = AdDecision.DeliverySnapshot()
    private var rows: [Row]
    private var zones = LocalTimeCache()
    private let tick: Int64
    private var last: Int64 = .min
    private let isShared: Bool
    private(set) var processes = 1
    private var refreshed: Int64?

    init(_ campaignIndex: CampaignIndex, isShared: Bool, tick: Int64 = tick) {
        (self.campaignIndex, self.isShared, self.tick) = (campaignIndex, isShared, tick)
        var numbers: [CampaignTimeZone: Int] = [:]
        for zone in campaignIndex.campaigns.map(\.zone) where numbers[zone] == nil { numbers[zone] = zones.add(zone.clocks) }
        rows = campaignIndex.campaigns.map { campaign in
            Row(
                pace: CampaignPace(campaign), zone: numbers[campaign.zone] ?? 0, goal: campaign.goal,
                counts: isShared ? nil : DeliveryCount(), estimate: DeliveryEstimate(of: campaign.goal))
        }
        current.obstacles = ContiguousArray(repeating: IneligibilityReason.unknownDelivery.rawValue, count: rows.count)
        current.room = ContiguousArray(repeating: 0, count: rows.count)
        current.weight = ContiguousArray(repeating: 1, count: rows.count)
        current.urgency = ContiguousArray(repeating: 1, count: rows.count)
    }

    mutating func migrate(from old: CampaignPacer) {
        (processes, refreshed) = (old.processes, old.refreshed)
        for (index, row) in old.rows.enumerated() {
            // Counts of another unit are unknown.
            guard let new = campaignIndex.index(of: old.campaignIndex.campaigns[index].id), let goal = rows[new].goal,
                row.goal?.unit == goal.unit
            else { continue }
            (rows[new].counts, rows[new].day, rows[new].own) = (row.counts, row.day, row.own)
            (rows[new].estimate, rows[new].offers) = (row.estimate, row.offers)
        }
    }

    // MARK: The ledger

    /// True if a page must wait for the counts of a goal.
    func needsCounts(at now: Int64) -> Bool {
        isShared && rows.contains { $0.goal != nil && $0.counts == nil } || isStale(at: now)
    }

    private func isStale(at now: Int64) -> Bool {
        guard isShared, let refreshed else { return false }
        return now >= refreshed + Self.patience || now < refreshed - Self.patience
    }

    mutating func beginRefresh(at now: Int64, adds: Bool) -> (offers: [String: Int64], queries: [DeliveryQuery])? {
        guard isShared else { return nil }
        var (offers, queries): ([String: Int64], [DeliveryQuery]) = ([:], [])
        for index in rows.indices {
            guard let goal = rows[index].goal else { continue }
            let id = campaignIndex.campaigns[index].id
            if adds { rows[index].offers = (0, rows[index].offers.sending + rows[index].offers.unsent) }
            rows[index].own = (0, rows[index].own.before + rows[index].own.since)
            if rows[index].offers.sending > 0 { offers[id] = rows[index].offers.sending }
            queries.append(DeliveryQuery(campaign: id, kind: goal.kind, day: zones.time(in: rows[index].zone, at: now).day.lowerBound))
        }
        return queries.isEmpty ? nil : (offers, queries)
    }

    mutating func adopt(_ refresh: DeliveryRefresh, of queries: [DeliveryQuery], at now: Int64) {
        (processes, refreshed) = (max(1, refresh.processes), now)
        for (query, counts) in zip(queries, refresh.counts) {
            guard let index = campaignIndex.index(of: query.campaign), rows[index].goal?.kind == query.kind else { continue }
            rows[index].estimate.advance(to: now)
            if let old = rows[index].counts {
                // Those of other processes; own offers are in the estimate at once.
                rows[index].estimate.offered(Double(max(0, counts.offers - old.offers - rows[index].offers.sending)))
                rows[index].estimate.seen(counts.total + counts.surplus - old.total - old.surplus)
            } else {
                let start = DeliveryQuery.recent(at: now)
                rows[index].estimate.restore(
                    offers: counts.recentOffers, seen: counts.recentSeen, in: Double(now - start) / 1_000)
            }
            (rows[index].counts, rows[index].day) = (counts, query.day)
            (rows[index].own.before, rows[index].offers.sending, rows[index].validUntil) = (0, 0, .min)
            if processes > 1 { evaluate(index, now, sharesPace: true) }
        }
        last = .min
    }

    mutating func cancelRefresh() {
        for index in rows.indices {
            rows[index].offers = (rows[index].offers.unsent + rows[index].offers.sending, 0)
        }
    }

    // MARK: Events

    /// A negative count takes offers back.
    mutating func offer(_ index: Int, _ count: Int64) {
        guard rows[index].goal != nil else { return }
        rows[index].estimate.offered(Double(count))
        rows[index].offers.unsent += count
        rows[index].validUntil = .min
        current.room[index] -= Double(count) * current.weight[index]
        let reason = IneligibilityReason(rawValue: current.obstacles[index])
        if current.room[index] <= Self.leastRoom {
            if reason == nil { current.obstacles[index] = exhaustion(index).rawValue }
        } else if reason == .underWay || reason == .pacing {
            current.obstacles[index] = 0
        }
    }

    mutating func didCommit(_ index: Int, _ event: LedgerEvent, _ verdict: Verdict) {
        guard let goal = rows[index].goal, event.kind == goal.kind else { return }
        let expected = rows[index].estimate.expected
        if let served = event.impressionContext?.served {
            let lag = Double(max(0, event.at - served)) / 1_000
            if verdict == .late { rows[index].estimate.observed(lag: lag) } else { rows[index].estimate.seen(after: lag) }
        }
        if !isShared, verdict != .late { rows[index].estimate.seen(1) }
        rows[index].validUntil = .min
        guard verdict == .counted else { return }
        rows[index].own.since += 1
        if processes == 1 { current.room[index] -= 1 - max(0, expected - rows[index].estimate.expected) }
        // A campaign that has reached its goal is no longer offered, without waiting for the next evaluation.
        if let reached = goal.obstacle(rows[index].total, rows[index].today) {
            (current.room[index], current.obstacles[index]) = (0, reached.rawValue)
        }
    }

    // MARK: Time

    mutating func advance(to now: Int64, isAtOnce: Bool = false) {
        guard isAtOnce || now < last || now >= last + tick || last == .min else { return }
        let hasClockChanged = now < last
        last = now
        for index in rows.indices where isAtOnce || hasClockChanged || now >= rows[index].validUntil { evaluate(index, now) }
    }

    private mutating func evaluate(_ index: Int, _ now: Int64, sharesPace: Bool = false) {
        let time = zones.time(in: rows[index].zone, at: now)
        let pace = rows[index].pace
        var obstacle: IneligibilityReason?
        if let starts = pace.starts, now < starts { obstacle = .notStarted }
        if let ends = pace.ends, now >= ends { obstacle = .ended }
        if let pause = campaignIndex.campaigns[index].pause, obstacle != .ended { obstacle = pause }
        if obstacle == nil, !pace.isOpen(at: now, offset: time.offset) { obstacle = .outsideHours }
        var urgency: Float = 1
        if rows[index].goal == nil {
            current.room[index] = .infinity
        } else {
            if rows[index].day != time.day.lowerBound { beginDay(index, time.day.lowerBound) }
            rows[index].estimate.advance(to: now)
            let due = due(index, now, time.day)
            urgency = due.urgency
            current.weight[index] = rows[index].estimate.viewRate
            if processes == 1 { current.room[index] = due.room }
            if sharesPace { current.room[index] = due.room / Double(processes) }
            if obstacle == nil {
                if rows[index].counts == nil || isStale(at: now) {
                    obstacle = .unknownDelivery
                } else if current.room[index] <= Self.leastRoom {
                    obstacle = exhaustion(index)
                }
            }
        }
        rows[index].validUntil = end(of: index, now, isLive: obstacle.map { $0.isOfGoal || $0 == .unknownDelivery } ?? true)
        set(obstacle, urgency, of: index)
    }

    /// A change by a few percent is not worth that.
    private mutating func set(_ obstacle: IneligibilityReason?, _ urgency: Float, of index: Int) {
        let (old, new) = (current.obstacles[index], obstacle?.rawValue ?? 0)
        current.obstacles[index] = new
        let isOther = abs(urgency - current.urgency[index]) > 0.05 * current.urgency[index]
        if isOther { current.urgency[index] = urgency }
        if new == 0, old != 0 || isOther { current.version &+= 1 }
    }

    private mutating func beginDay(_ index: Int, _ day: Int64) {
        rows[index].day = day
        guard var counts = rows[index].counts else { return }
        // Own events since the last refresh are of the day before.
        counts.total += rows[index].own.since + rows[index].own.before
        counts.today = 0
        (rows[index].counts, rows[index].own) = (counts, (0, 0))
    }

    private func due(_ index: Int, _ now: Int64, _ day: Range<Int64>) -> CampaignPace.PacingTarget {
        let (row, expected) = (rows[index], rows[index].estimate.expected)
        return row.pace.due(
            at: now, in: day, delivered: Double(row.total) + expected, today: Double(row.today) + expected,
            lookahead: tick + Int64(row.estimate.lag * 1_000))
    }

    private func end(of index: Int, _ now: Int64, isLive: Bool) -> Int64 {
        let row = rows[index]
        var end = Int64.max
        if let starts = row.pace.starts, now < starts { end = starts }
        if let ends = row.pace.ends, now < ends { end = min(end, ends) }
        // Days and hours begin at quarters of an hour.
        if row.pace.hasTimes || row.goal != nil { end = min(end, LocalTimeCache.end(of: now)) }
        guard let goal = row.goal, isLive else { return end }
        let isSettled = row.pace.isEven || row.estimate.pending > 0.01 || row.counts == nil ? false : true
        if isSettled || goal.total.map({ row.total >= Int64($0) }) ?? false {
            return isShared ? min(end, (refreshed ?? now) + Self.patience) : end
        }
        return min(end, now + tick)
    }

    private func exhaustion(_ index: Int) -> IneligibilityReason {
        guard let goal = rows[index].goal else { return .pacing }
        if let reached = goal.obstacle(rows[index].total, rows[index].today) { return reached }
        let expected = Int64(rows[index].estimate.expected.rounded(.up))
        return goal.obstacle(rows[index].total + expected, rows[index].today + expected) == nil ? .pacing : .underWay
    }

    func progress(_ index: Int, at now: Int64) -> CampaignProgress {
        let row = rows[index]
        var counts = row.counts
        counts?.total = row.total
        counts?.today = row.today
        counts?.offers += row.offers.unsent + row.offers.sending
        return CampaignProgress(
            campaign: campaignIndex.campaigns[index], delivered: row.goal == nil ? nil : counts,
            estimate: row.goal == nil ? nil : row.estimate, due: row.pace.due(at: now),
            dueToday: row.pace.dueToday(at: now, in: zones.day(in: row.zone, at: now), counts),
            obstacle: IneligibilityReason(rawValue: current.obstacles[index]))
    }
}
