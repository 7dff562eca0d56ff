import CIntertwineLinux
import Dispatch
package import IntertwineFeed
import Synchronization

/// What reading a file may take of the process.
public struct ReadLimits: Sendable, Hashable {
    /// Threads that read, each with a connection of its own; they start as they are needed.
    public var threads: Int
    /// Reads that may wait for one of them; one more is refused as `StoreError.overloaded`.
    public var waiting: Int
    /// How long a read may wait before it is refused likewise.
    public var queueTimeout: Duration

    public init(threads: Int = 4, waiting: Int = 4_096, queueTimeout: Duration = .seconds(2)) {
        (self.threads, self.waiting, self.queueTimeout) = (max(1, threads), max(1, waiting), queueTimeout)
    }
}

/// How reading a file goes, since it was opened.
package struct ReadStatistics: Sendable, Hashable {
    /// Reads that are over.
    public internal(set) var finished = 0
    /// Reads that have a thread.
    public internal(set) var running = 0
    /// Reads that wait for one.
    public internal(set) var waiting = 0
    /// Reads that there was no room for, or that waited too long.
    public internal(set) var refused = 0
}

/// Threads that wait for a disk, so that no other has to: neither those of tasks, of which there are as many as cores, nor an event loop.
///
/// A read that has begun is read to its end, whoever has gone meanwhile; one that waits leaves with whoever asked for it.
package final class ReaderPool: Sendable {
    private let crew: WorkerThreads

    package init(_ limits: ReadLimits) {
        crew = WorkerThreads(limits)
    }

    deinit {
        crew.end()
    }

    package var statistics: ReadStatistics { crew.statistics }

    /// - Throws: what `body` throws; `StoreError.overloaded`; `CancellationError` where the task was cancelled while it waited.
    package func run<Value: Sendable>(for purpose: ReadPurpose, _ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let read = Read(purpose, body)
        return try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                read.completion = { continuation.resume(with: $0) }
                crew.admit(read)
            }
        } onCancel: { [crew] in
            crew.cancel(read)
        }
    }

    /// The same for those who have no task to wait in.
    ///
    /// - Parameter completion: called once, on the thread that read or, where nothing is read, on whatever thread finds that out.
    /// - Returns: what has the read leave, if it still waits; `CancellationError` then.
    package func run<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable () throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> @Sendable () -> Void {
        let read = Read(purpose, body, completion)
        crew.admit(read)
        return { [crew] in crew.cancel(read) }
    }

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

/// The threads and what they share; it is there for as long as one of them is.
private final class WorkerThreads: Sendable {
    private struct State {
        var queue: ReadQueue
        /// What threads without work wait at, the last one to have any at the end.
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
        let (admission, resting, starts, watches) = state.withLock { state in
            let admission = state.queue.admit(read, at: .now)
            guard admission == .waiting else { return (admission, DispatchSemaphore?.none, false, false) }
            let resting = state.idle.popLast()
            let starts = resting == nil && state.threads < limits.threads
            if starts { state.threads += 1 }
            defer { state.isWatched = true }
            return (admission, resting, starts, !state.isWatched)
        }
        switch admission {
        case .waiting: break
        case .refused: return read.fail(StoreError.overloaded)
        case .cancelled: return read.fail(CancellationError())
        }
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

    /// False where the system gives no thread: what waits is then read by another one, or refused when its time is over.
    private func startThread() -> Bool {
        let crew = Unmanaged.passRetained(self)
        let result = clinux_start_thread(
            0, { context in if let context { Unmanaged<WorkerThreads>.fromOpaque(context).takeRetainedValue().work() } }, crew.toOpaque())
        if result != 0 { crew.release() }
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

    // MARK: Patience

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
