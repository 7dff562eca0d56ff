import CIntertwineLinux
import Dispatch
package import IntertwineFeed
import Synchronization

package struct ReadLimits: Sendable, Hashable {
    package var threads: Int
    package var waiting: Int
    package var queueTimeout: Duration

    package init(threads: Int = 4, waiting: Int = 4_096, queueTimeout: Duration = .seconds(2)) {
        (self.threads, self.waiting, self.queueTimeout) = (max(1, threads), max(1, waiting), queueTimeout)
    }
}

package struct ReadStatistics: Sendable, Hashable {
    package internal(set) var finished = 0
    package internal(set) var running = 0
    package internal(set) var waiting = 0
    /// The number of reads that were refused because of a full queue or a timeout.
    package internal(set) var refused = 0
}

/// A read that has started runs to its end, even if the caller is cancelled.
/// Why: blocking reads must not occupy the threads of Swift tasks, of which there are as many as cores, or an event loop.
package final class ReaderPool: Sendable {
    private let workers: WorkerThreads

    package init(_ limits: ReadLimits) {
        workers = WorkerThreads(limits)
    }

    deinit {
        workers.end()
    }

    package var statistics: ReadStatistics { workers.statistics }

    package func run<Value: Sendable>(for purpose: ReadPurpose, _ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let read = Read(purpose, body)
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                read.completion = { continuation.resume(with: $0) }
                workers.admit(read)
            }
        } onCancel: { [workers] in
            workers.cancel(read)
        }
    }

    package func run<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable () throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> @Sendable () -> Void {
        let read = Read(purpose, body, completion)
        workers.admit(read)
        return { [workers] in workers.cancel(read) }
    }

    // Safety of @unchecked: as for `PendingRead`. The creator, then the one thread that took the read, access the members.
    private final class Read<Value: Sendable>: PendingRead, @unchecked Sendable {
        private let body: @Sendable () throws -> Value
        private var result: Result<Value, any Error>?
        var completion: (@Sendable (Result<Value, any Error>) -> Void)?

        init(
            _ purpose: ReadPurpose, _ body: @escaping @Sendable () throws -> Value,
            _ completion: (@Sendable (Result<Value, any Error>) -> Void)? = nil
        ) {
            self.body = body
            self.completion = completion
            super.init(purpose)
        }

        override func run() { result = Result { try body() } }

        override func deliver() {
            if let result { completion?(result) }
        }

        override func fail(_ error: any Error) { completion?(.failure(error)) }
    }
}

private final class WorkerThreads: Sendable {
    private struct State {
        var queue: ReadQueue
        var idle: [DispatchSemaphore] = []
        var threads = 0
        var isWatched = false
        var isOver = false
    }

    private enum Step {
        case read(PendingRead)
        case idle
        case end
    }

    private let limits: ReadLimits
    private let state: Mutex<State>
    private let watch = DispatchQueue(label: "intertwine.reads")

    init(_ limits: ReadLimits) {
        self.limits = limits
        state = Mutex(State(queue: ReadQueue(limits)))
    }

    var statistics: ReadStatistics { state.withLock { $0.queue.statistics } }

    func admit(_ read: PendingRead) {
        let (error, resting, starts, watches) = state.withLock { state -> ((any Error)?, DispatchSemaphore?, Bool, Bool) in
            if let error = state.queue.admit(read, at: .now) { return (error, nil, false, false) }
            let resting = state.idle.popLast()
            let starts = resting == nil && state.threads < limits.threads
            if starts { state.threads += 1 }
            defer { state.isWatched = true }
            return (nil, resting, starts, !state.isWatched)
        }
        if let error { return read.fail(error) }
        resting?.signal()
        if starts, !startThread() { state.withLock { $0.threads -= 1 } }
        if watches { planWatch(after: limits.queueTimeout) }
    }

    func cancel(_ read: PendingRead) {
        if state.withLock({ $0.queue.cancel(read) }) { read.fail(CancellationError()) }
    }

    func end() {
        let resting = state.withLock { state in
            state.isOver = true
            return state.idle
        }
        for thread in resting { thread.signal() }
    }

    // MARK: Threads

    private func startThread() -> Bool {
        let workers = Unmanaged.passRetained(self)
        let result = clinux_start_thread(
            0, { context in if let context { Unmanaged<WorkerThreads>.fromOpaque(context).takeRetainedValue().work() } }, workers.toOpaque()
        )
        if result != 0 { workers.release() }
        return result == 0
    }

    private func work() {
        let bell = DispatchSemaphore(value: 0)
        var done: PendingRead?
        while true {
            let step = step(after: done, bell)
            done?.deliver()
            done = nil
            switch step {
            case .read(let read):
                read.run()
                done = read
            case .idle: bell.wait()
            case .end: return
            }
        }
    }

    private func step(after done: PendingRead?, _ bell: DispatchSemaphore) -> Step {
        state.withLock { state in
            if let done { state.queue.finish(done) }
            if let read = state.queue.next() { return .read(read) }
            if state.isOver { return .end }
            state.idle.append(bell)
            return .idle
        }
    }

    // MARK: Timeouts

    private func planWatch(after duration: Duration) {
        let (seconds, attoseconds) = duration.components
        watch.asyncAfter(deadline: .now() + Double(seconds) + Double(attoseconds) / 1e18) { [weak self] in self?.refuseLate() }
    }

    private func refuseLate() {
        let now = ContinuousClock.now
        let (late, deadline) = state.withLock { state in
            let late = state.queue.drainExpired(at: now)
            state.isWatched = state.queue.firstDeadline != nil
            return (late, state.queue.firstDeadline)
        }
        for read in late { read.fail(StoreError.overloaded) }
        if let deadline { planWatch(after: deadline - now) }
    }
}
