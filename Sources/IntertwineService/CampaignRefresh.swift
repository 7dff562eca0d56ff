internal import Dispatch
internal import IntertwineFeed
internal import IntertwinePrimitives
internal import Logging

struct CampaignRefresh: PeriodicService {
    let interval = Duration.milliseconds(500)
    let startsAtOnce = true
    private(set) var hasFailed = false

    let delivery: AdServer
    let now: @Sendable () -> Int64
    let logger: Logger
    private let queue = DispatchQueue(label: "intertwine.campaigns")

    mutating func perform() async {
        do {
            try await queue.perform { [delivery, now] in try delivery.refresh(now: now()) }
            hasFailed = false
        } catch {
            if !hasFailed { logger.warning("the delivery of campaigns is unknown", metadata: ["error": "\(error)"]) }
            hasFailed = true
        }
    }
}
