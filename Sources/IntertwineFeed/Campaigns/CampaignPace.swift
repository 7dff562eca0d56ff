/// How much of a campaign's goals is due at a moment.
///
/// Evenly paced, a goal is due by the share of its time that has passed: of the flight, and of the day for a daily one. Hours and days that
/// the campaign is not shown in are no part of that time.
struct CampaignPace: Sendable {
    /// What there is to deliver until a moment, and how it stands.
    struct Due: Sendable, Hashable {
        /// Places that may still be given now; less than none where more has been delivered than is due.
        var room: Int64
        /// 1, and up to 10 for one that is behind.
        var urgency: Float
    }

    private static let day: Int64 = 86_400_000
    private static let hour: Int64 = 3_600_000

    // No more of the campaign than is asked of it: all are looked at ten times a second, and nothing of this has to be counted along.
    let starts: Int64?
    let ends: Int64?
    private let goal: Campaign.Goal?
    private let isEven: Bool
    private let hasTimes: Bool
    private let days: UInt8
    private let hours: UInt32

    init(_ campaign: Campaign) {
        (starts, ends, goal, isEven) = (campaign.starts, campaign.ends, campaign.goal, campaign.pacing == .even)
        (hasTimes, days, hours) = (campaign.targeting.hasTimes, campaign.targeting.days, campaign.targeting.hours)
    }

    /// When the day of a moment begins in the campaign's zone.
    ///
    /// - Parameter offset: of the zone, at that moment.
    static func startOfDay(_ now: Int64, offset: Int64) -> Int64 {
        let local = now + offset
        return (local >= 0 ? local / day : (local + 1) / day - 1) * day - offset
    }

    /// Whether it is shown at this time of the week.
    func isOpen(at now: Int64, offset: Int64) -> Bool {
        guard hasTimes else { return true }
        let (day, rest) = Self.local(now + offset)
        return days >> UInt8(Self.weekday(day)) & 1 != 0 && hours >> UInt32(rest / Self.hour) & 1 != 0
    }

    /// - Parameters:
    ///   - delivered: in all, with what is reserved.
    ///   - today: since the day began in the campaign's zone, with what is reserved.
    ///   - lookahead: milliseconds that the answer is to last.
    func due(at now: Int64, offset: Int64, delivered: Int64, today: Int64, lookahead: Int64 = 0) -> Due {
        guard let goal else { return Due(room: .max, urgency: 1) }
        var due = Due(room: .max, urgency: 1)
        if let total = goal.total { due.take(Int64(total), share: share(at: now + lookahead, offset: offset), delivered) }
        if let daily = goal.daily {
            due.take(Int64(daily), share: shareOfDay(now, at: now + lookahead, offset: offset), today)
        }
        return due
    }

    /// How much of the goal in all there is to be by a moment; nil without.
    func due(at now: Int64, offset: Int64) -> Int64? {
        (goal?.total).map { Int64(Double($0) * share(at: now, offset: offset)) }
    }

    /// The same of the goal of its day.
    func dueToday(at now: Int64, offset: Int64) -> Int64? {
        (goal?.daily).map { Int64(Double($0) * shareOfDay(now, at: now, offset: offset)) }
    }

    private func share(at moment: Int64, offset: Int64) -> Double {
        guard isEven else { return 1 }
        return share(from: starts ?? moment, to: ends ?? moment, at: moment, offset: offset)
    }

    private func shareOfDay(_ now: Int64, at moment: Int64, offset: Int64) -> Double {
        guard isEven else { return 1 }
        let start = Self.startOfDay(now, offset: offset)
        let (from, to) = (max(start, starts ?? .min), min(start + Self.day, ends ?? .max))
        return share(from: from, to: to, at: moment, offset: offset)
    }

    /// The part of a stretch of time that has passed, in hours in which the campaign is shown.
    func share(from start: Int64, to end: Int64, at now: Int64, offset: Int64) -> Double {
        let now = min(max(now, start), end)
        guard hasTimes else { return end > start ? Double(now - start) / Double(end - start) : 1 }
        let first = shown(until: start + offset)
        let all = shown(until: end + offset) - first
        return all > 0 ? Double(shown(until: now + offset) - first) / Double(all) : 1
    }

    /// Milliseconds of hours in which it is shown, since a Monday long ago.
    private func shown(until local: Int64) -> Int64 {
        let (day, rest) = Self.local(local)
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

    private static func local(_ moment: Int64) -> (day: Int64, rest: Int64) {
        let day = moment >= 0 ? moment / Self.day : (moment + 1) / Self.day - 1
        return (day, moment - day * Self.day)
    }

    /// From Monday, 0, as the day 0 was a Thursday.
    private static func weekday(_ day: Int64) -> Int64 {
        let rest = (day + 3) % 7
        return rest < 0 ? rest + 7 : rest
    }
}

extension CampaignPace.Due {
    fileprivate mutating func take(_ goal: Int64, share: Double, _ delivered: Int64) {
        let target = min(goal, Int64((Double(goal) * share).rounded(.down)))
        room = min(room, target - delivered)
        // Twice the weight where it is behind by 0.2 % of the goal: little, or campaigns that have many beside them would end behind.
        let behind = Float(target - delivered) / max(1, Float(goal) / 500)
        urgency = max(urgency, min(10, 1 + max(0, behind)))
    }
}
