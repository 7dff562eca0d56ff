import Glibc
import TestSupport

/// Several services on one PostgreSQL database. Blocking.
enum Replicas {
    static let settings = [
        RunningService.tokenSetting, "events.click-rate=1000000", "log.requests=false", "limits.requests-per-connection=1000000000",
    ]
    static let items = Items.users(12) + Items.advertisements(2)

    /// Replicas of one feed, each with a folder and ports of its own.
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

    /// Where an advertisement of the first page leads.
    static func click(_ service: RunningService) throws -> String {
        let ad = try page(service)["cells"]?.list.first { $0["id"]?.text == "ad:1" }
        guard let link = ad?["actions"]?["selection"]?["href"]?.text else { throw RawClientError.closed }
        return link
    }

    /// False where that did not come about in half a minute.
    static func wait(until isSo: () throws -> Bool) throws -> Bool {
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            if try isSo() { return true }
            usleep(20_000)
        }
        return false
    }

    /// Whether the ledger has each click that was answered, and none twice.
    static func hasKept(_ outcome: ClickLoad.Outcome, _ service: RunningService) throws -> Bool {
        let viewers = try viewers(service)
        return outcome.done.isSubset(of: viewers) && Set(viewers).count == viewers.count
    }

    /// Of the clicks in the ledger.
    static func viewers(_ service: RunningService) throws -> [String] {
        try service.events().filter { $0["kind"]?.text == "click" }.compactMap { $0["viewer"]?.text }
    }
}

extension [RunningService] {
    var pair: (RunningService, RunningService) { (self[0], self[1]) }
}
