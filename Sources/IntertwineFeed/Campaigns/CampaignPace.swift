/// How much of a campaign's goals is due at a moment.
///
/// Evenly paced, a goal is due by the share of its time that has passed: of the flight, and of the day for a daily one. Hours and days that
/// the campaign is not shown in are no part of that time.
struct CampaignPace: Sendable {
    /// What there is to deliver until a moment, and how it stands.
    struct PacingTarget: Sendable, Hashable {
        /// Places that may still be given now; less than none where more has been delivered than is due.
        var room: Int64
        /// 1, and up to 10 for one that is behind.
        var urgency: Float
    }

    private static let hour: Int64 = 3_600_000

    // No more of the campaign than is asked of it: all are looked at ten times a second, and nothing of this has to be counted along.
    let starts: Int64?
    let ends: Int64?
    private let goal: Campaign.Goal?
    private let isEven: Bool
    private let days: UInt8
    private let hours: UInt32
    /// Nil where no time of the week is left out.
    private let clocks: TimeZoneOffsets?
    /// Milliseconds of the flight in which it is shown; none where it has no start or no end.
    private var duration: Int64 = 0

    init(_ campaign: Campaign) {
        (starts, ends, goal, isEven) = (campaign.starts, campaign.ends, campaign.goal, campaign.pacing == .even)
        (days, hours) = (campaign.targeting.days, campaign.targeting.hours)
        clocks = campaign.targeting.hasTimes ? campaign.zone.clocks : nil
        if let starts, let ends { duration = shown(from: starts, to: ends) }
    }

    /// Whether any time of the week is left out.
    var hasTimes: Bool { clocks != nil }

    /// Whether all of the flight is left out.
    var hasNoTime: Bool { starts != nil && ends != nil && duration == 0 }

    /// Whether it is shown at this time of the week.
    ///
    /// - Parameter offset: of the zone, at that moment.
    func isOpen(at now: Int64, offset: Int64) -> Bool {
        guard clocks != nil else { return true }
        let (day, rest) = TimeZoneOffsets.local(now + offset)
        return days >> UInt8(Self.weekday(day)) & 1 != 0 && hours >> UInt32(rest / Self.hour) & 1 != 0
    }

    /// - Parameters:
    ///   - day: that of the moment, in the campaign's zone.
    ///   - delivered: in all, with what is reserved.
    ///   - today: since the day began, with what is reserved.
    ///   - lookahead: milliseconds that the answer is to last.
    func due(at now: Int64, in day: Range<Int64>, delivered: Int64, today: Int64, lookahead: Int64 = 0) -> PacingTarget {
        guard let goal else { return PacingTarget(room: .max, urgency: 1) }
        var due = PacingTarget(room: .max, urgency: 1)
        if let total = goal.total { due.take(Int64(total), share: share(at: now + lookahead), delivered) }
        if let daily = goal.daily { due.take(Int64(daily), share: share(of: day, at: now + lookahead), today) }
        return due
    }

    /// The moment at which a unit is due that is not at another one, or one before that.
    ///
    /// - Parameter day: that of the moment, in the campaign's zone.
    func nextUnit(at moment: Int64, in day: Range<Int64>) -> Int64 {
        guard let goal, isEven else { return .max }
        // What is due in hours that are not all alike is worked out each time.
        guard clocks == nil else { return moment }
        var next = Int64.max
        if let total = goal.total, let starts, let ends { next = Self.nextUnit(of: total, from: starts, to: ends, at: moment) }
        guard let daily = goal.daily else { return next }
        let (start, end) = (max(day.lowerBound, starts ?? .min), min(day.upperBound, ends ?? .max))
        return min(next, Self.nextUnit(of: daily, from: start, to: end, at: moment))
    }

    private static func nextUnit(of goal: Int, from start: Int64, to end: Int64, at moment: Int64) -> Int64 {
        guard start < end, moment < end else { return .max }
        let length = Double(end - start)
        let due = (Double(goal) * (Double(max(moment, start) - start) / length)).rounded(.up)
        return start + Int64(due / Double(goal) * length)
    }

    /// How much of the goal in all there is to be by a moment; nil without.
    func due(at now: Int64) -> Int64? {
        (goal?.total).map { Int64(Double($0) * share(at: now)) }
    }

    /// The same of the goal of its day.
    func dueToday(at now: Int64, in day: Range<Int64>) -> Int64? {
        (goal?.daily).map { Int64(Double($0) * share(of: day, at: now)) }
    }

    /// Of the flight, what has passed.
    private func share(at moment: Int64) -> Double {
        guard isEven, let starts, let ends, duration > 0 else { return 1 }
        return Double(shown(from: starts, to: min(max(moment, starts), ends))) / Double(duration)
    }

    private func share(of day: Range<Int64>, at moment: Int64) -> Double {
        guard isEven else { return 1 }
        return share(from: max(day.lowerBound, starts ?? .min), to: min(day.upperBound, ends ?? .max), at: moment)
    }

    /// The part of a stretch of time that has passed, in hours in which the campaign is shown.
    func share(from start: Int64, to end: Int64, at now: Int64) -> Double {
        let all = shown(from: start, to: end)
        return all > 0 ? Double(shown(from: start, to: min(max(now, start), end))) / Double(all) : 1
    }

    /// Milliseconds of a stretch of time in which it is shown.
    private func shown(from start: Int64, to end: Int64) -> Int64 {
        guard start < end else { return 0 }
        guard let clocks else { return end - start }
        var sum: Int64 = 0
        clocks.forEachInterval(from: start, to: end) { sum += shown(until: $1 + $2) - shown(until: $0 + $2) }
        return sum
    }

    /// Milliseconds of hours in which it is shown, since a Monday long ago, by clocks that nobody changes.
    private func shown(until local: Int64) -> Int64 {
        let (day, rest) = TimeZoneOffsets.local(local)
        let length = Int64((hours & 0xFF_FFFF).nonzeroBitCount) * Self.hour
        let weekday = Self.weekday(day)
        let weeks = (day + 3 - weekday) / 7
        let passed =
            weeks * Int64((days & 0x7F).nonzeroBitCount)
            + Int64((days & ((1 << UInt8(weekday)) - 1)).nonzeroBitCount)
        guard days >> UInt8(weekday) & 1 != 0 else { return passed * length }
        let hour = UInt32(rest / Self.hour)
        let before = Int64((hours & ((1 << hour) - 1)).nonzeroBitCount) * Self.hour
        return passed * length + before + (hours >> hour & 1 != 0 ? rest % Self.hour : 0)
    }

    /// From Monday, 0, as the day 0 was a Thursday.
    private static func weekday(_ day: Int64) -> Int64 {
        let rest = (day + 3) % 7
        return rest < 0 ? rest + 7 : rest
    }
}

extension CampaignPace.PacingTarget {
    fileprivate mutating func take(_ goal: Int64, share: Double, _ delivered: Int64) {
        // A unit is due when its part of the time begins: due at its end, the last one would be due when the campaign is over.
        let target = min(goal, Int64((Double(goal) * share).rounded(.up)))
        room = min(room, target - delivered)
        // Twice the weight where it is behind by 0.2 % of the goal: little, or campaigns that have many beside them would end behind.
        let behind = Float(target - delivered) / max(1, Float(goal) / 500)
        urgency = max(urgency, min(10, 1 + max(0, behind)))
    }
}
