import Glibc
import TestSupport

/// Several services on one PostgreSQL database. Blocking.
enum Replicas {
    static let settings = [
        RunningService.tokenSetting, "events.click-rate=1000000", "log.requests=false", "limits.requests-per-connection=1000000000",
        // The default, on which the durations of these tests are based.
        "ledger.write-timeout=5s",
    ]
    static let items = Items.users(12) + Items.advertisements(2)

    /// Starts replicas of one feed, each with a separate folder and ports.
    static func start(
        _ count: Int, of database: PostgresServer.Database, items: String = items, settings: [String] = settings
    ) throws -> [RunningService] {
        try start(count, at: database.uri, items: items, settings: settings)
    }

    static func start(
        _ count: Int, at address: String, items: String = items, settings: [String] = settings
    ) throws -> [RunningService] {
        try (0..<count).map { try RunningService(items: $0 == 0 ? items : "", settings: settings, database: address) }
    }

    static func page(_ service: RunningService, _ path: String = "/feed") throws -> JSON {
        try JSON(try service.get(path).text)
    }

    /// Returns the click link of an ad on the first page.
    static func click(_ service: RunningService) throws -> String {
        let ad = try page(service)["cells"]?.list.first { $0["id"]?.text == "ad:1" }
        guard let link = ad?["actions"]?["selection"]?["href"]?.text else { throw RawClientError.closed }
        return link
    }

    /// Returns whether the ledger has each answered click, and no viewer twice.
    static func hasKept(_ outcome: ClickLoad.Outcome, _ service: RunningService) throws -> Bool {
        let viewers = try viewers(service)
        return outcome.done.isSubset(of: viewers) && Set(viewers).count == viewers.count
    }

    /// Returns the viewers of the clicks in the ledger.
    static func viewers(_ service: RunningService) throws -> [String] {
        try service.events().filter { $0["kind"]?.text == "click" }.compactMap { $0["viewer"]?.text }
    }
}

extension [RunningService] {
    var pair: (RunningService, RunningService) { (self[0], self[1]) }
}
