/// A lease on a campaign's goal: the units that one process may serve without coordination. It also holds the delivery counts and the slots that
/// other processes have reserved. It is a pure value without input or output.
struct BudgetLease {
    private(set) var delivered = DeliveryCount()
    /// The slots that other processes reserved and that have neither an impression nor expired.
    private(set) var others: Int64 = 0
    /// The number of slots that this process may still serve.
    private(set) var remaining: Int64 = 0
    /// The start of the day of ``DeliveryCount/today``, in milliseconds since 1970-01-01 UTC. The minimum means that the counts are unknown.
    private var day: Int64 = .min
    /// The size of the lease after the current exchange is on disk; nil if no exchange is in progress.
    private var proposed: Int64?
    /// The result of the last exchange: the number of slots that were left of the goal, and the number that this lease took.
    private var lastGrant: (of: Int64, count: Int64) = (0, 0)

    /// A Boolean value indicating whether the delivery counts are known.
    var isKnown: Bool { day != .min }

    /// True if half of the last grant is used and a larger grant was possible.
    var isRunningLow: Bool { lastGrant.count < lastGrant.of && remaining * 2 <= lastGrant.count }

    /// Returns the reason why the goal allows no more slots; nil if it allows one.
    ///
    /// - Parameter reserved: The number of slots that count as delivered in addition to the counts.
    func obstacle(_ goal: Campaign.Goal?, reserved: Int64 = 0) -> IneligibilityReason? {
        goal?.obstacle(delivered.total + reserved, delivered.today + reserved)
    }

    mutating func update(_ delivered: DeliveryCount, on day: Int64, servedByOthers others: Int64) {
        (self.delivered, self.day, self.others) = (delivered, day, others)
    }

    /// Starts with counts of 0 if they are unknown.
    mutating func beginWithNothing(on day: Int64) { if !isKnown { self.day = day } }

    /// Changes the day and resets its count.
    ///
    /// - Returns: True if the day differs from the previous one.
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

    /// Proposes a lease on a part of the remaining goal. Until the proposal is on disk, the lease does not grow.
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
