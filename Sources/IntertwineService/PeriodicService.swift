internal import ServiceLifecycle

/// A service that repeats an operation until the graceful shutdown, which cancels the operation in progress.
protocol PeriodicService: ServiceLifecycle.Service {
    var interval: Duration { get }
    var startsAtOnce: Bool { get }

    mutating func perform() async
}

extension PeriodicService {
    var startsAtOnce: Bool { false }

    func run() async throws { await repeatUntilShutdown() }

    func repeatUntilShutdown() async {
        await cancelWhenGracefulShutdown {
            var service = self
            if service.startsAtOnce { await service.perform() }
            while (try? await Task.sleep(for: service.interval)) != nil { await service.perform() }
        }
    }
}
