/// How far a campaign has come.
package struct CampaignProgress: Sendable {
    package var campaign: Campaign
    package var delivered: Delivered
    /// Given out and not seen yet.
    package var reserved: Int64
    /// What its goals have for now, evenly paced ones by the time that has passed; nil without.
    package var due: Int64?
    package var dueToday: Int64?
    /// Why it is not shown now; nil where that is up to the request.
    package var obstacle: CampaignObstacle?
}

extension Campaign.Goal {
    /// Whether it is reached by so many, in all or today.
    func obstacle(_ delivered: Int64, _ today: Int64) -> CampaignObstacle? {
        if let total, delivered >= Int64(total) { return .goalReached }
        if let daily, today >= Int64(daily) { return .dailyGoalReached }
        return nil
    }

    /// What there still is to deliver, in all and today.
    func left(of delivered: Delivered) -> Int64 {
        min(total.map { Int64($0) - delivered.total } ?? .max, daily.map { Int64($0) - delivered.today } ?? .max)
    }
}
