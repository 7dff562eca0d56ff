import Testing

@testable import IntertwineFeed

@Suite("Days with clock changes")
struct ZoneDayTests {
    private static let hour: Int64 = 3_600_000
    /// 2027-01-01, midnight in UTC.
    private static let year: Int64 = 1_798_761_600_000

    /// The days of a year by the clocks of a zone.
    static func days(in zone: CampaignTimeZone) -> [Range<Int64>] {
        var days = [zone.clocks.day(of: year)]
        while let last = days.last, last.upperBound < year + 365 * 24 * hour { days.append(zone.clocks.day(of: last.upperBound)) }
        return days
    }

    @Test("An offset has whole quarters of an hour, as the counts of days have")
    func offsets() {
        for name in ["+02:00", "-09:30", "+05:45", "+14:00"] { #expect(CampaignTimeZone(name) != nil, "\(name)") }
        for name in ["+02:07", "++1:30", "+1:300", "+0a:00", "+02:60", "+-1:00", "+01:+5"] {
            #expect(CampaignTimeZone(name) == nil, "\(name)")
        }
    }

    @Test("A comma between quotes is part of an attribute's value, and what cannot be read makes the attributes incomplete")
    func attributes() {
        #expect(ViewerAttributes(#"group="a,b", plan=free"#).pairs == ["group=a,b", "plan=free"])
        #expect(ViewerAttributes(#"group="a,b""#).isCut == false && ViewerAttributes(" , plan").isCut == false)
        for field in [#"group="a,b"#, #"group="\#(String(repeating: "x", count: 129))""#, "plan=free, =x", "Group=a"] {
            #expect(ViewerAttributes(field).isCut, "\(field)")
        }
    }

    @Test("The ids of creatives are compared by bytes")
    func creatives() {
        let (composed, decomposed) = (CreativeID(kind: "ad", id: "\u{E9}"), CreativeID(kind: "ad", id: "e\u{301}"))
        #expect(composed != decomposed && Set([composed, decomposed]).count == 2)
    }

    @Test(
        "Days are contiguous, contain their moments, and differ from 24 hours only at clock changes",
        arguments: [
            ("Europe/Berlin", [23, 25]), ("America/New_York", [23, 25]), ("Pacific/Auckland", [25, 23]), ("America/Santiago", [25, 23]),
            ("America/Havana", [23, 25]), ("Africa/Cairo", [23, 25]), ("Asia/Kathmandu", []), ("+05:30", []), ("UTC", []),
        ] as [(String, [Int64])])
    func lengths(name: String, expected: [Int64]) throws {
        let zone = try #require(CampaignTimeZone(name))
        let days = Self.days(in: zone)
        #expect(days.map { ($0.upperBound - $0.lowerBound) / Self.hour }.filter { $0 != 24 } == expected)
        for (day, next) in zip(days, days.dropFirst()) {
            #expect(day.upperBound == next.lowerBound)
            for moment in stride(from: day.lowerBound, to: day.upperBound, by: Int(Self.hour / 2)) {
                #expect(zone.clocks.day(of: moment) == day)
            }
            #expect(TimeZoneOffsets.local(day.lowerBound + zone.clocks.offset(at: day.lowerBound)).rest <= Self.hour)
        }
    }

    @Test(
        "Even pacing of a daily goal follows the elapsed eligible hours of the day",
        arguments: [
            "Europe/Berlin", "America/New_York", "Pacific/Auckland", "America/Santiago", "America/Havana", "Australia/Lord_Howe",
            "Africa/Casablanca", "Asia/Kathmandu", "+05:30",
        ], [0xFF_FFFF, 0b11_1111, 0x3F_FF00] as [UInt32])
    func paces(name: String, hours: UInt32) throws {
        let zone = try #require(CampaignTimeZone(name))
        let days = Self.days(in: zone)
        let changed = days.filter { $0.upperBound - $0.lowerBound != 24 * Self.hour }
        for day in changed + days.prefix(1) {
            var campaign = Campaign(id: "a", advertiser: "ACME", creatives: ["1"])
            (campaign.goal, campaign.pacing, campaign.zone) = (.init(unit: .impressions, daily: 1_000), .even, zone)
            campaign.targeting.hours = hours
            let campaignIndex = AdServerTests.campaignIndex([campaign])
            let delivery = AdServer(ledger: nil)
            // The eligible minutes of the day, by the clocks of the zone.
            let minutes = stride(from: day.lowerBound, to: day.upperBound, by: 60_000).map { moment in
                let shown = TimeZoneOffsets.local(moment + zone.clocks.offset(at: moment)).rest / Self.hour
                return hours >> UInt32(shown) & 1 != 0
            }
            let all = minutes.count { $0 }
            var (delivered, passed) = (0, 0)
            for (minute, isShown) in minutes.enumerated() {
                for number in 0..<6 {
                    let now = day.lowerBound + Int64(minute) * 60_000 + Int64(number) * 10_000
                    let page = AdServerTests.page("v\(minute)-\(number)", now: now)
                    guard let given = try delivery.choose(page, of: campaignIndex)[0] else { continue }
                    #expect(isShown)
                    delivered += 1
                    delivery.eventsDidCommit([AdServerTests.seen(given, by: page.targeting.viewer, at: now)], [.counted])
                }
                if isShown { passed += 1 }
                let due = Double(passed) / Double(all) * 1_000
                #expect(abs(Double(delivered) - due) <= 20, "\(name) \(day) minute \(minute)")
            }
            #expect((980...1_000).contains(delivered), "\(name) \(day)")
        }
    }
}
