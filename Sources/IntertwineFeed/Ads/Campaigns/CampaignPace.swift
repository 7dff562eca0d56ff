struct CampaignPace: Sendable {
    /// The slots that may be served until a moment, and the weight factor.
    struct PacingTarget: Sendable, Hashable {
        var room: Double
        var urgency: Float
    }

    private static let hour: Int64 = 3_600_000

    // Only the necessary fields of the campaign are copied. Why: All campaigns are evaluated 10 times per second, and copies of these fields
    // avoid reference counting.
    let starts: Int64?
    let ends: Int64?
    private let goal: Campaign.Goal?
    let isEven: Bool
    private let days: UInt8
    private let hours: UInt32
    private let clocks: TimeZoneOffsets?
    /// The milliseconds within the campaign dates in which the campaign is shown; 0 without a start or an end.
    private var duration: Int64 = 0

    init(_ campaign: Campaign) {
        (starts, ends, goal, isEven) = (campaign.starts, campaign.ends, campaign.goal, campaign.pacing == .even)
        (days, hours) = (campaign.targeting.days, campaign.targeting.hours)
        clocks = campaign.targeting.hasTimes ? campaign.zone.clocks : nil
        if let starts, let ends { duration = shown(from: starts, to: ends) }
    }

    var hasTimes: Bool { clocks != nil }

    var hasNoTime: Bool { starts != nil && ends != nil && duration == 0 }

    func hasNoTime(after now: Int64) -> Bool {
        guard hasTimes, let ends, now < ends else { return false }
        return shown(from: max(now, starts ?? now), to: ends) == 0
    }

    func isOpen(at now: Int64, offset: Int64) -> Bool {
        guard clocks != nil else { return true }
        let (day, rest) = TimeZoneOffsets.local(now + offset)
        return days >> UInt8(Self.weekday(day)) & 1 != 0 && hours >> UInt32(rest / Self.hour) & 1 != 0
    }

    /// - lookahead: The time in milliseconds until an offer is seen.
    func due(at now: Int64, in day: Range<Int64>, delivered: Double, today: Double, lookahead: Int64 = 0) -> PacingTarget {
        var due = PacingTarget(room: .infinity, urgency: 1)
        guard let goal else { return due }
        func ahead(_ length: Int64) -> Int64 { now + min(lookahead, length / 50) }
        if let total = goal.total {
            let length = if let starts, let ends { ends - starts } else { Int64.max }
            due.take(Int64(total), share: share(at: ahead(length)), delivered)
        }
        if let daily = goal.daily {
            due.take(Int64(daily), share: share(of: day, at: ahead(day.upperBound - day.lowerBound)), today)
        }
        return due
    }

    func due(at now: Int64) -> Int64? {
        (goal?.total).map { Int64(Double($0) * share(at: now)) }
    }

    /// At most what the days before have left of the goal.
    func dueToday(at now: Int64, in day: Range<Int64>, _ delivered: DeliveryCount? = nil) -> Int64? {
        guard let goal, let daily = goal.daily else { return nil }
        let due = Int64(Double(daily) * share(of: day, at: now))
        guard let total = goal.total, let delivered else { return due }
        return max(0, min(due, Int64(total) - (delivered.total - delivered.today)))
    }

    private func share(at moment: Int64) -> Double {
        guard isEven, let starts, let ends, duration > 0 else { return 1 }
        return Double(shown(from: starts, to: min(max(moment, starts), ends))) / Double(duration)
    }

    private func share(of day: Range<Int64>, at moment: Int64) -> Double {
        guard isEven else { return 1 }
        return share(from: max(day.lowerBound, starts ?? .min), to: min(day.upperBound, ends ?? .max), at: moment)
    }

    func share(from start: Int64, to end: Int64, at now: Int64) -> Double {
        let all = shown(from: start, to: end)
        return all > 0 ? Double(shown(from: start, to: min(max(now, start), end))) / Double(all) : 1
    }

    /// Returns the milliseconds of a time range in which the campaign is shown.
    private func shown(from start: Int64, to end: Int64) -> Int64 {
        guard start < end else { return 0 }
        guard let clocks else { return end - start }
        var sum: Int64 = 0
        clocks.forEachInterval(from: start, to: end) { sum += shown(until: $1 + $2) - shown(until: $0 + $2) }
        return sum
    }

    /// Returns the milliseconds in which the campaign is shown between a fixed Monday and a local time, without changes of the offset.
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

    private static func weekday(_ day: Int64) -> Int64 {
        let rest = (day + 3) % 7
        return rest < 0 ? rest + 7 : rest
    }
}

extension CampaignPace.PacingTarget {
    fileprivate mutating func take(_ goal: Int64, share: Double, _ delivered: Double) {
        // A unit is due at the start of its part of the time. At the end of its part, the last unit would become due only when the campaign is
        // over.
        let target = min(Double(goal), (Double(goal) * share).rounded(.up))
        room = min(room, target - delivered)
        // The weight doubles if the campaign is behind by 0.2 % of its goal. Why: With a higher threshold, campaigns that compete with many
        // others would end behind.
        let behind = Float(target - delivered) / max(1, Float(goal) / 500)
        urgency = max(urgency, min(10, 1 + max(0, behind)))
    }
}
