/// What one process knows of a campaign's goal: what is delivered, what others have given out, and what it may still give itself. Pure.
struct BudgetLease {
    private(set) var delivered = DeliveryCount()
    /// Given out by the other processes, and neither seen nor over.
    private(set) var others: Int64 = 0
    /// What this process may still give.
    private(set) var remaining: Int64 = 0
    /// Milliseconds since 1970-01-01 UTC; of which day ``Delivered/today`` is.
    private var day: Int64 = .min
    /// What it will hold once the exchange that goes on is on disk.
    private var proposed: Int64?
    /// What it could hold at the last exchange, and what of that it took.
    private var lastGrant: (of: Int64, count: Int64) = (0, 0)

    /// Whether what is delivered has been told.
    var isKnown: Bool { day != .min }

    /// Whether half of what it took at the last exchange is gone, and it could have taken more.
    var isRunningLow: Bool { lastGrant.count < lastGrant.of && remaining * 2 <= lastGrant.count }

    /// Why nothing more may be given, where so many count as delivered besides.
    func obstacle(_ goal: Campaign.Goal?, reserved: Int64 = 0) -> IneligibilityReason? {
        goal?.obstacle(delivered.total + reserved, delivered.today + reserved)
    }

    mutating func update(_ delivered: DeliveryCount, on day: Int64, servedByOthers others: Int64) {
        (self.delivered, self.day, self.others) = (delivered, day, others)
    }

    /// Where nothing was told.
    mutating func beginWithNothing(on day: Int64) { if !isKnown { self.day = day } }

    /// Whether that is another day than before.
    mutating func advance(to day: Int64) -> Bool {
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
    mutating func propose(_ count: Int64, of left: Int64) {
        (proposed, remaining, lastGrant) = (count, min(remaining, count), (left, count))
    }

    mutating func commit() {
        guard let proposed else { return }
        (remaining, self.proposed) = (proposed, nil)
    }

    mutating func drop() { proposed = nil }

    mutating func reset() { (remaining, proposed) = (0, nil) }

    mutating func consume(_ count: Int64) {
        remaining -= count
        proposed = proposed.map { $0 - count }
    }
}
