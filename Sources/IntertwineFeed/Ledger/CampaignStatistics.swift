package struct CampaignStatistics: Sendable, Hashable {
    package enum GoalUnit: String, Sendable, Hashable, CaseIterable {
        /// A view is a playback to the end.
        case impressions, clicks, views

        package var kind: LedgerEvent.Kind {
            switch self {
            case .impressions: .impression
            case .clicks: .click
            case .views: .complete
            }
        }
    }

    package var unit: GoalUnit?
    package var total: Int?
    package var daily: Int?
    package var delivered: Int64?
    package var deliveredToday: Int64?
    package var due: Int64?
    package var dueToday: Int64?
    package var blockage: String?
    package var price: CampaignPrice?

    package init(
        unit: GoalUnit? = nil, total: Int? = nil, daily: Int? = nil, delivered: Int64? = nil, deliveredToday: Int64? = nil,
        due: Int64? = nil, dueToday: Int64? = nil
    ) {
        (self.unit, self.total, self.daily) = (unit, total, daily)
        (self.delivered, self.deliveredToday, self.due, self.dueToday) = (delivered, deliveredToday, due, dueToday)
    }

    package var pace: Double? {
        guard let delivered, let deliveredToday else { return nil }
        let (done, due) = due.map { (delivered, $0) } ?? (deliveredToday, dueToday ?? 0)
        return due > 0 ? Double(done) / Double(due) : nil
    }
}
