import Testing

@testable import IntertwineFeed

@Suite("Notices on campaigns")
struct CampaignNoticeTests {
    private static func campaign(_ id: String, _ priority: Campaign.Priority, _ change: (inout Campaign) -> Void = { _ in }) -> Campaign {
        var campaign = Campaign(id: id, advertiser: "ACME", creatives: ["1"])
        campaign.priority = priority
        change(&campaign)
        return campaign
    }

    private static func notices(_ campaigns: Campaign...) -> [String] {
        Campaign.notices(on: campaigns, at: 1_000).map { "\($0.campaign) \($0.reason)" }
    }

    @Test("A campaign that has ended, and one that takes all ad slots of others, are named")
    func notices() {
        let standard = Self.campaign("low", .standard)
        let taking = "top has no goal and no caps, so it takes all ad slots, and none is left for 'low'"
        #expect(Self.notices(Self.campaign("top", .sponsorship), standard) == [taking])
        #expect(Self.notices(Self.campaign("over", .sponsorship) { $0.ends = 1_000 }, standard) == ["over has ended"])
        // The sponsorship of one feed takes the slots of campaigns for that feed.
        let home = Self.campaign("top", .sponsorship) { $0.targeting.feeds = ["home"] }
        #expect(Self.notices(home, Self.campaign("low", .standard) { $0.targeting.feeds = ["home"] }) == [taking])
        let changes: [(inout Campaign) -> Void] = [
            { $0.goal = .init(unit: .impressions, total: 5) }, { $0.caps = [.init(count: 1, window: 60)] }, { $0.isPaused = true },
            { $0.targeting.locales = ["de"] }, { $0.targeting.feeds = ["home"] }, { $0.targeting.hours = 1 },
            { $0.priority = .standard },
        ]
        for change in changes { #expect(Self.notices(Self.campaign("top", .sponsorship, change), standard).isEmpty) }
        let later = Self.campaign("top", .sponsorship) { $0.starts = 5_000 }
        #expect(Self.notices(later, Self.campaign("low", .standard) { $0.ends = 5_000 }).isEmpty)
        let many = (0..<5).map { Self.campaign("low\($0)", .house) }
        #expect(
            Campaign.notices(on: [Self.campaign("top", .sponsorship)] + many, at: 0).first?.reason.hasSuffix("'low2' and 2 others") == true)
    }
}
