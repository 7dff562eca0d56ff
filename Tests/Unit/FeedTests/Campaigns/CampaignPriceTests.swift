import IntertwinePrimitives
import Testing

@testable import IntertwineFeed

@Suite("Prices of campaigns")
struct CampaignPriceTests {
    private static func read(_ members: String) throws -> (campaign: Campaign?, errors: [String]) {
        var reader = CampaignReader(validTargets: nil)
        let campaign = reader.campaign(
            "spring", from: try JSONValue(json: Array(#"{"advertiser":"ACME","creatives":["1"],\#(members)}"#.utf8)))
        return (campaign, reader.errors.map { "\($0.path.joined(separator: ".")): \($0.reason)" })
    }

    @Test(
        "A price is read exactly, and a spend is its sum",
        arguments: [
            (#""model":"cpm","amount":"2.5","currency":"EUR""#, 1_000_001, "2500.0025"),
            (#""model":"cpm","amount":2.5,"currency":"EUR""#, 3, "0.0075"), (#""model":"cpc","amount":"0.1","currency":"USD""#, 3, "0.30"),
            (#""model":"cpc","amount":2,"currency":"USD""#, 0, "0.00"),
            (#""model":"cpv","amount":"1000000000","currency":"JPY""#, 9, "9000000000.00"),
        ])
    func prices(members: String, events: Int, spend: String) throws {
        let (campaign, errors) = try Self.read(#""price":{\#(members)}"#)
        let price = try #require(campaign?.price, "\(errors)")
        var figures = CampaignStatistics()
        figures.price = price
        #expect(figures.spend(of: [price.model.kind: events]) == spend)
        #expect(price.spend(on: .max) > 0)
    }

    @Test(
        "Wrong prices and budgets are refused at their member",
        arguments: [
            (#""price":{"model":"cpm"}"#, "price: amount is missing"),
            (#""price":{"model":"cpx","amount":1,"currency":"EUR"}"#, "price.model: "),
            (#""price":{"model":"cpm","amount":0,"currency":"EUR"}"#, "price.amount: "),
            (#""price":{"model":"cpm","amount":"1.0000001","currency":"EUR"}"#, "price.amount: "),
            (#""price":{"model":"cpm","amount":"-1","currency":"EUR"}"#, "price.amount: "),
            (#""price":{"model":"cpm","amount":"1e3","currency":"EUR"}"#, "price.amount: "),
            (#""price":{"model":"cpm","amount":1,"currency":"eur"}"#, "price.currency: "),
            (#""goal":{"budget":10}"#, "goal: a budget requires"),
            (#""price":{"model":"cpv","amount":1,"currency":"EUR"},"goal":{"unit":"clicks","budget":10}"#, "goal.unit: "),
            (#""price":{"model":"cpc","amount":20,"currency":"EUR"},"goal":{"budget":10}"#, "goal.budget: pays for less"),
            (#""price":{"model":"cpc","amount":1,"currency":"EUR"},"goal":{"unit":"impressions","budget":10}"#, "goal.unit: "),
        ])
    func errors(members: String, error: String) throws {
        let (campaign, errors) = try Self.read(members)
        #expect(campaign == nil && errors.contains { $0.hasPrefix(error) }, "\(errors)")
    }

    @Test("A budget is a goal of as many events as it pays")
    func budgets() throws {
        let cpm = #""price":{"model":"cpm","amount":"2.50","currency":"EUR"}"#
        let goal = try #require(try Self.read(cpm + #","goal":{"budget":"1000","dailyBudget":10.01}"#).campaign?.goal)
        #expect(goal == Campaign.Goal(unit: .impressions, total: 400_000, daily: 4_004))
        let cpc = #""price":{"model":"cpc","amount":"0.30","currency":"EUR"}"#
        #expect(try Self.read(cpc + #","goal":{"budget":1}"#).campaign?.goal == Campaign.Goal(unit: .clicks, total: 3))
        let cpv = #""price":{"model":"cpv","amount":"0.02","currency":"EUR"}"#
        #expect(try Self.read(cpv + #","goal":{"budget":1}"#).campaign?.goal == Campaign.Goal(unit: .views, total: 50))
        // The smaller one of two goals applies.
        #expect(try Self.read(cpc + #","goal":{"unit":"clicks","total":2,"budget":1}"#).campaign?.goal?.total == 2)
    }
}
