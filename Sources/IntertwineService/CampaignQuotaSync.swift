internal import Dispatch
internal import IntertwineFeed
internal import Logging

/// Exchanges the delivery counts of campaigns with other processes on the ledger, twice a second.
struct CampaignQuotaSync: PeriodicService {
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
            try await waiting { try $0.exchange(now: $1) }
            hasFailed = false
        } catch {
            if !hasFailed { logger.warning("the delivery of campaigns is unknown", metadata: ["error": "\(error)"]) }
            hasFailed = true
        }
    }

    func run() async throws {
        await repeatUntilShutdown()
        do {
            try await waiting { try $0.shutdown(now: $1) }
        } catch {
            logger.warning("the delivery leases of campaigns cannot be returned", metadata: ["error": "\(error)"])
        }
    }

    private func waiting(_ body: @escaping @Sendable (AdServer, Int64) throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            queue.async { [delivery, now] in continuation.resume(with: Result { try body(delivery, now()) }) }
        }
    }
}
