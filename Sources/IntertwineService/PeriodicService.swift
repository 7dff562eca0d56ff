internal import ServiceLifecycle

/// A service that repeats an operation until the graceful shutdown, which cancels the operation in progress.
///
/// A structure can have the state of its repetitions in properties: each run changes a copy.
///
/// ```swift
/// struct Ticker: PeriodicService {
///     let interval = Duration.seconds(1)
///     private var ticks = 0
///
///     mutating func perform() async {
///         ticks += 1
///         print(ticks)
///     }
/// }
/// ```
protocol PeriodicService: ServiceLifecycle.Service {
    /// The time between the end of an operation and the next one.
    var interval: Duration { get }
    /// True to perform the operation at the start, false to perform it after the first interval. The default is false.
    var startsAtOnce: Bool { get }

    mutating func perform() async
}

extension PeriodicService {
    var startsAtOnce: Bool { false }

    func run() async throws { await repeatUntilShutdown() }

    /// Repeats the operation, for services that override ``run()``.
    func repeatUntilShutdown() async {
        await cancelWhenGracefulShutdown {
            var service = self
            if service.startsAtOnce { await service.perform() }
            while (try? await Task.sleep(for: service.interval)) != nil { await service.perform() }
        }
    }
}
