internal import IntertwineFeed
internal import IntertwineStorage
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Shows and hides items at the times of their schedules. The change is a commit like any other, so pages, changes, live updates and
/// entity tags follow it.
final class ScheduleMonitor: Sendable {
    /// Milliseconds.
    private static let tick: Int64 = 50
    /// The share of the time that reads of hidden items may take.
    private static let share = 20

    private let store: any ItemStore
    private let images: TakedownImageFilter
    private let clock: @Sendable () -> Int64
    private let logger: Logger
    private let next = Atomic(Int64.max)

    init(store: any ItemStore, images: TakedownImageFilter, clock: @escaping @Sendable () -> Int64, logger: Logger) {
        (self.store, self.images, self.clock, self.logger) = (store, images, clock, logger)
    }

    /// The next time at which an item becomes public or expires, in milliseconds since 1970-01-01 UTC.
    var nextChange: Int64 { next.load(ordering: .relaxed) }

    func settle() async throws {
        let state = try await store.settle()
        // By this process's clock, which may differ from the database's.
        next.store(state.next.map { $0 &- state.now &+ clock() } ?? .max, ordering: .relaxed)
    }

    func readHidden() async throws -> Bool { images.hide(try await store.hiddenItems()) }

    /// Milliseconds.
    private var pause: Int64 { nextChange == .max ? .max : max(1, nextChange - clock()) }

    func service(of live: ReloadableApplication) -> some ServiceLifecycle.Service { Repetition(monitor: self, live: live) }

    private struct Repetition: ServiceLifecycle.Service {
        let monitor: ScheduleMonitor
        let live: ReloadableApplication

        func run() async throws {
            await cancelWhenGracefulShutdown { await monitor.run(live) }
        }
    }

    private func run(_ live: ReloadableApplication) async {
        var settled: StoreVersion?
        var read: (version: StoreVersion?, pause: Duration, end: ContinuousClock.Instant) = (nil, .zero, .now)
        while (try? await Task.sleep(for: .milliseconds(min(Self.tick, pause)))) != nil {
            let version = store.version
            let isDue = clock() >= nextChange
            do {
                if isDue || version != settled {
                    try await settle()
                    settled = version
                }
                if isDue { live.current.pages.forget(now: clock()) }
                let start = ContinuousClock.now
                guard store.version != read.version, isDue || start >= read.end + read.pause else { continue }
                read.version = store.version
                if try await readHidden() { live.current.pages.forget(now: clock()) }
                read.end = .now
                read.pause = (read.end - start) * Self.share
            } catch {
                logger.debug("the schedules of items cannot be read", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: .milliseconds(250))
            }
        }
    }
}
