import ArgumentParser
import Foundation
import IntertwineFeed
import IntertwinePrimitives
import IntertwineService

struct ForecastCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forecast",
        abstract: "Forecast the delivery of campaigns.",
        discussion: """
            The command simulates page requests, and gives their ad slots to the campaigns of a file by the rules of the service. It reads no store,
            and writes nothing.

              intertwine forecast --campaigns campaigns.yaml --viewers 10000 --days 7 --attributes plan=free --languages de
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table, json
    }

    enum Layout: String, ExpressibleByArgument, CaseIterable {
        case collection, table
    }

    @OptionGroup var options: SettingOptions

    @Option(help: "File of the campaigns (default: campaigns.file).")
    var campaigns: String?

    @Option(help: "Number of viewers.")
    var viewers = 10_000

    @Option(help: "Number of days.")
    var days = 7

    @Option(help: "Total number of pages (default: ten per viewer and day).")
    var requests: Int?

    @Option(help: "Number of processes that share a ledger.")
    var processes = 1

    @Option(help: "Number of content items on a page.")
    var limit = FeedRequest.defaultLimit

    @Option(help: "Number of ad slots on a page, at even distances (default: the placement of the feed or section).")
    var slots: Int?

    @Option(help: "Share of the ad slots that are seen, from 0 to 1.")
    var seen = 1.0

    @Option(help: "Share of the seen ads that are clicked, from 0 to 1.")
    var clicked = 0.01

    @Option(help: "Begin of the forecast (RFC 3339; default: the begin of the first campaign).")
    var start: String?

    @Option(help: "Attributes of all viewers, such as plan=free.")
    var attributes: String?

    @Option(help: "Languages of all viewers, in the format of Accept-Language.")
    var languages: String?

    @Option(help: "Requested feed.")
    var feed = "main"

    @Option(help: "Section of the feed with the ad slots.")
    var section: String?

    @Option(help: "Requested layout.")
    var layout = Layout.collection

    @Option(help: "Output format.")
    var format = Format.table

    private struct Document: Encodable {
        struct Row: Encodable {
            var campaign: String
            var goal: Int?
            var delivered: Int
            var share: Double?
            var impressions: Int
            var clicks: Int
            var viewers: Int
            var days: [Int]
            var reason: String?
        }

        var start: String
        var pages: Int
        var pagesPerSecond: Int
        var campaigns: [Row]
    }

    func validate() throws {
        guard (1...1_000_000_000).contains(viewers), (1...366).contains(days), (1...20).contains(slots ?? 1), (1...16).contains(processes)
        else {
            throw ValidationError("--viewers must be from 1 to 1000000000, --days to 366, --slots to 20, --processes to 16")
        }
        guard FeedRequest.limits.contains(limit) else { throw ValidationError("--limit must be from 1 to 100") }
        guard (1...1_000_000_000).contains(requests ?? 1) else { throw ValidationError("--requests must be from 1 to 1000000000") }
        guard (0...1).contains(seen), (0...1).contains(clicked) else { throw ValidationError("--seen and --clicked must be from 0 to 1") }
        guard start.map({ Timestamp.milliseconds(of: $0) != nil }) ?? true else {
            throw ValidationError("--start must be a time with a time zone (RFC 3339), such as 2026-11-21T09:00:00+01:00")
        }
    }

    func run() async throws {
        let configuration = try await options.configuration()
        let declared = try declared(in: configuration)
        let simulation = try simulation(of: declared, as: configuration)
        let began = ContinuousClock.now
        let forecasts = try await simulation.run(declared)
        try put(document(forecasts, of: simulation, since: began, blocked: try blockages(of: declared, in: configuration)))
    }

    private func declared(in configuration: ServiceConfiguration) throws -> [Campaign] {
        var configuration = configuration
        if let campaigns { configuration.campaigns.file = campaigns }
        try configuration.checkPlacements(feed: feed, section: section)
        let declared = try configuration.declaredCampaigns()
        guard !declared.isEmpty else { throw ValidationError("no campaigns; name a file with --campaigns") }
        return declared
    }

    /// Returns the reasons why campaigns can never be shown, by their ids.
    private func blockages(of declared: [Campaign], in configuration: ServiceConfiguration) throws -> [String: String] {
        let inventory = try configuration.campaignInventory(hasAttributes: attributes != nil)
        let found = declared.compactMap { campaign in campaign.blockage(in: inventory).map { (campaign.id, $0) } }
        return Dictionary(found, uniquingKeysWith: { first, _ in first })
    }

    private func simulation(of declared: [Campaign], as configuration: ServiceConfiguration) throws -> CampaignForecast {
        let first = start.flatMap(Timestamp.milliseconds) ?? declared.compactMap(\.starts).min()
        var simulation = CampaignForecast(start: first ?? WallClock.now() / 86_400_000 * 86_400_000)
        simulation.viewers = viewers
        simulation.days = days
        simulation.processes = processes
        simulation.requests = requests ?? min(1_000_000_000, viewers * 10 * days)
        simulation.seen = seen
        simulation.clicked = clicked
        simulation.limit = limit
        simulation.spacing = configuration.feed.adSpacing
        simulation.placement =
            try slots.map { count in FixedPlacement(at: (0..<count).map { $0 * limit / count }) }
            ?? configuration.placement(feed: feed, section: section)
        simulation.attributes = attributes.map { ViewerAttributes($0) }
        simulation.languages = languages.map { LanguagePreferences($0) }
        simulation.slot = AdSlotContext(feed: feed, section: section, layout: layout == .table ? .table : .collection)
        return simulation
    }

    private func document(
        _ forecasts: [CampaignForecast.Forecast], of simulation: CampaignForecast, since began: ContinuousClock.Instant,
        blocked: [String: String]
    ) -> Document {
        let seconds = (ContinuousClock.now - began) / .seconds(1)
        return Document(
            start: Timestamp.text(milliseconds: simulation.start), pages: simulation.requests,
            pagesPerSecond: Int(Double(simulation.requests) / max(seconds, 0.000_001)),
            campaigns: forecasts.map { forecast in
                let delivered = forecast.goal == nil ? forecast.impressions : forecast.days.reduce(0, +)
                return Document.Row(
                    campaign: forecast.campaign, goal: forecast.goal, delivered: delivered,
                    share: forecast.goal.map { $0 > 0 ? (Double(delivered) / Double($0) * 10_000).rounded() / 10_000 : 1 },
                    impressions: forecast.impressions, clicks: forecast.clicks, viewers: forecast.viewers, days: forecast.days,
                    reason: forecast.obstacle?.reason ?? blocked[forecast.campaign])
            })
    }

    private func put(_ document: Document) throws {
        switch format {
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try Output.put(try encoder.encode(document) + Data("\n".utf8))
        case .table: try Output.put(Data(table(document).utf8))
        }
    }

    private func table(_ document: Document) -> String {
        let head = ["campaign", "goal", "delivered", "of goal", "impressions", "clicks", "viewers"]
        let rows = document.campaigns.map { row in
            [
                row.campaign, row.goal.map(String.init) ?? "-", String(row.delivered),
                row.share.map { String(format: "%.1f %%", $0 * 100) } ?? "-", String(row.impressions), String(row.clicks),
                String(row.viewers),
            ]
        }
        let reasons = document.campaigns.compactMap { row in row.reason.map { "\n\(row.campaign): \($0)" } }.joined()
        return Output.table([head] + rows)
            + "\(reasons)\n\(reasons.isEmpty ? "" : "\n")\(document.pages) pages from \(document.start), \(document.pagesPerSecond) a second\n"
    }
}
