internal import IntertwineFeed
internal import IntertwinePrimitives
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
    private let failures = ReportThrottle()
    private let next = Atomic(Int64.max)
    /// True if an item's time has come since hidden items were read.
    private let mustRead = Atomic(false)

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

    /// Why two tasks: a read of many hidden items takes longer than the second within which an item is shown or hidden.
    private func run(_ live: ReloadableApplication) async {
        await withDiscardingTaskGroup { tasks in
            tasks.addTask { [self] in await settle(live) }
            tasks.addTask { [self] in await readHidden(live) }
        }
    }

    private func settle(_ live: ReloadableApplication) async {
        var settled: StoreVersion?
        while (try? await Task.sleep(for: .milliseconds(min(Self.tick, pause)))) != nil {
            let version = store.version
            let isDue = clock() >= nextChange
            guard isDue || version != settled else { continue }
            await withPauseAfterFailure {
                try await settle()
                settled = version
            }
            guard isDue else { continue }
            live.current.pages.forget(now: clock())
            mustRead.store(true, ordering: .relaxed)
        }
    }

    private func readHidden(_ live: ReloadableApplication) async {
        var read: (version: StoreVersion?, pause: Duration, end: ContinuousClock.Instant) = (nil, .zero, .now)
        while (try? await Task.sleep(for: .milliseconds(Self.tick))) != nil {
            let start = ContinuousClock.now
            let isDue = mustRead.exchange(false, ordering: .relaxed)
            guard isDue || store.version != read.version && start >= read.end + read.pause else { continue }
            let version = store.version
            read.version = nil
            await withPauseAfterFailure {
                if try await readHidden() { live.current.pages.forget(now: clock()) }
                read.version = version
            }
            // An item that is hidden now must not keep its images because one read failed.
            if read.version == nil { mustRead.store(true, ordering: .relaxed) }
            read.end = .now
            read.pause = (read.end - start) * Self.share
        }
    }

    private func withPauseAfterFailure(_ body: () async throws -> Void) async {
        do { try await body() } catch {
            if failures.repetitions(of: "schedules", now: clock()) != nil {
                logger.warning("the schedules of items cannot be read", metadata: ["error": "\(error)"])
            }
            try? await Task.sleep(for: .milliseconds(250))
        }
    }
}
