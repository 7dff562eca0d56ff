internal import Dispatch
internal import IntertwineFeed
internal import Logging

/// Adds the offers of this process to the ledger and reads the delivery counts of campaigns, twice a second.
struct CampaignRefresh: PeriodicService {
    let interval = Duration.milliseconds(500)
    let startsAtOnce = true
    private var hasFailed = false

    private let delivery: AdServer
    private let now: @Sendable () -> Int64
    private let logger: Logger
    private let queue = DispatchQueue(label: "intertwine.campaigns")

    init(delivery: AdServer, now: @escaping @Sendable () -> Int64, logger: Logger) {
        (self.delivery, self.now, self.logger) = (delivery, now, logger)
    }

    mutating func perform() async {
        do {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                queue.async { [delivery, now] in continuation.resume(with: Result { try delivery.refresh(now: now()) }) }
            }
            hasFailed = false
        } catch {
            if !hasFailed { logger.warning("the delivery of campaigns is unknown", metadata: ["error": "\(error)"]) }
            hasFailed = true
        }
    }
}
