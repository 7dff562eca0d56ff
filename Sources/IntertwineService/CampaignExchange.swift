internal import IntertwineFeed
internal import Logging
internal import ServiceLifecycle

/// Has the processes that share a ledger tell each other what they have given to campaigns, twice a second.
///
/// Where it fails, campaigns get what was left to this process the last time, and no more, until it succeeds again.
struct CampaignExchange: ServiceLifecycle.Service {
    private static let interval = Duration.milliseconds(500)

    let delivery: CampaignDelivery
    let now: @Sendable () -> Int64
    let logger: Logger

    func run() async {
        await cancelWhenGracefulShutdown {
            var hasFailed = false
            while !Task.isCancelled {
                do {
                    try await delivery.exchange(now: now())
                    hasFailed = false
                } catch {
                    if !hasFailed { logger.warning("what campaigns deliver cannot be told", metadata: ["error": "\(error)"]) }
                    hasFailed = true
                }
                try? await Task.sleep(for: Self.interval)
            }
        }
    }
}
