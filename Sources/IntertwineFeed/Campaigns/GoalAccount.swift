/// What one process knows of a campaign's goal: what is delivered, what others have given out, and what it may still give itself. Pure.
struct GoalAccount {
    private(set) var delivered = Delivered()
    /// Given out by the other processes, and neither seen nor over.
    private(set) var others: Int64 = 0
    /// What this process may still give.
    private(set) var held: Int64 = 0
    /// Milliseconds since 1970-01-01 UTC; of which day ``Delivered/today`` is.
    private var day: Int64 = .min
    /// What it will hold once the exchange that goes on is on disk.
    private var offered: Int64?
    /// What it could hold at the last exchange, and what of that it took.
    private var granted: (of: Int64, count: Int64) = (0, 0)

    /// Whether what is delivered has been told.
    var isKnown: Bool { day != .min }

    /// Whether half of what it took at the last exchange is gone, and it could have taken more.
    var isRunningLow: Bool { granted.count < granted.of && held * 2 <= granted.count }

    /// Why nothing more may be given, where so many count as delivered besides.
    func obstacle(_ goal: Campaign.Goal?, reserved: Int64 = 0) -> CampaignObstacle? {
        goal?.obstacle(delivered.total + reserved, delivered.today + reserved)
    }

    mutating func know(_ delivered: Delivered, on day: Int64, givenByOthers others: Int64) {
        (self.delivered, self.day, self.others) = (delivered, day, others)
    }

    /// Where nothing was told.
    mutating func beginWithNothing(on day: Int64) { if !isKnown { self.day = day } }

    /// Whether that is another day than before.
    mutating func turn(to day: Int64) -> Bool {
        guard self.day != day else { return false }
        (self.day, delivered.today) = (day, 0)
        return true
    }

    /// What is delivered has to be told anew.
    mutating func forget() { day = .min }

    mutating func countOne() {
        delivered.total += 1
        delivered.today += 1
    }

    // MARK: What it may give

    /// Offers a part of what is left; until that is on disk it holds no more than before.
    mutating func offer(_ count: Int64, of left: Int64) {
        (offered, held, granted) = (count, min(held, count), (left, count))
    }

    mutating func hold() {
        guard let offered else { return }
        (held, self.offered) = (offered, nil)
    }

    mutating func holdNoMore() { offered = nil }

    mutating func leave() { (held, offered) = (0, nil) }

    mutating func take(_ count: Int64) {
        held -= count
        offered = offered.map { $0 - count }
    }
}
