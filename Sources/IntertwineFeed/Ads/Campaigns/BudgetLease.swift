/// A lease on a campaign's goal: the units that one process may serve without coordination.
struct BudgetLease {
    private(set) var delivered = DeliveryCount()
    private(set) var others: Int64 = 0
    private(set) var remaining: Int64 = 0
    /// The start of the day of ``DeliveryCount/today``, in milliseconds since 1970-01-01 UTC.
    private var day: Int64 = .min
    private var proposed: Int64?
    private var lastGrant: (of: Int64, count: Int64) = (0, 0)

    var isKnown: Bool { day != .min }

    var isRunningLow: Bool { lastGrant.count < lastGrant.of && remaining * 2 <= lastGrant.count }

    func obstacle(_ goal: Campaign.Goal?, reserved: Int64 = 0) -> IneligibilityReason? {
        goal?.obstacle(delivered.total + reserved, delivered.today + reserved)
    }

    mutating func update(_ delivered: DeliveryCount, on day: Int64, servedByOthers others: Int64) {
        (self.delivered, self.day, self.others) = (delivered, day, others)
    }

    mutating func beginWithNothing(on day: Int64) { if !isKnown { self.day = day } }

    mutating func advance(to day: Int64) -> Bool {
        guard self.day != day else { return false }
        (self.day, delivered.today) = (day, 0)
        return true
    }

    /// Marks the delivery counts as unknown, so that they are read again.
    mutating func forget() { day = .min }

    mutating func countOne() {
        delivered.total += 1
        delivered.today += 1
    }

    // MARK: Lease

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
