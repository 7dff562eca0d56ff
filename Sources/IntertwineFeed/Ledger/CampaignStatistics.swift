/// The delivery of a campaign and the part of its goals that is due.
package struct CampaignStatistics: Sendable, Hashable {
    package enum GoalUnit: String, Sendable, Hashable, CaseIterable {
        case impressions, clicks
    }

    /// The unit of the goal; nil without a goal, in which case impressions are counted.
    package var unit: GoalUnit?
    package var total: Int?
    package var daily: Int?
    package var delivered: Int64?
    package var deliveredToday: Int64?
    package var due: Int64?
    package var dueToday: Int64?
    /// The reason why the campaign cannot be shown in the current state; nil if it can be.
    package var blockage: String?

    package init(
        unit: GoalUnit? = nil, total: Int? = nil, daily: Int? = nil, delivered: Int64? = nil, deliveredToday: Int64? = nil,
        due: Int64? = nil, dueToday: Int64? = nil
    ) {
        (self.unit, self.total, self.daily) = (unit, total, daily)
        (self.delivered, self.deliveredToday, self.due, self.dueToday) = (delivered, deliveredToday, due, dueToday)
    }

    /// The delivered units divided by the due units. If only a daily goal exists, the units of the day are used.
    package var pace: Double? {
        guard let delivered, let deliveredToday else { return nil }
        let (done, due) = due.map { (delivered, $0) } ?? (deliveredToday, dueToday ?? 0)
        return due > 0 ? Double(done) / Double(due) : nil
    }
}
