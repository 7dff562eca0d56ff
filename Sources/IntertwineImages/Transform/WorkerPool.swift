internal import IntertwineEventLoop
internal import IntertwineImageWire
internal import Logging
internal import Synchronization

/// An actor that distributes jobs to worker processes. It runs on an event loop and never blocks on a worker or on the start of a process.
///
/// A worker that fails is killed and replaced; only its current job fails.
actor WorkerPool {
    typealias Reply = @Sendable (Result<TransformResult, ImageError>) -> Void

    /// The time limit for a worker to become ready.
    private static let longestStart = Duration.seconds(20)
    /// The time after a cancellation before the worker is killed, because encoders cannot be stopped.
    ///
    /// Why: a cancellation has to complete within 50 ms, including its delivery and the end of the process on busy processors.
    private static let killTimeout = Duration.milliseconds(10)
    /// The number of jobs after which a worker is replaced.
    private static let maxJobsPerWorker = 10_000

    private struct Job {
        let job: TransformJob
        let image: [UInt8]
        let reply: Reply
    }

    private nonisolated let loop: EventLoop
    private let configuration: ImageWorkers.Configuration
    private let path: String
    private let starter: WorkerStarter
    private let isReady: Flag
    private var queue: TransformQueue<UInt32>
    private var jobs: [UInt32: Job] = [:]
    private var workers: [Int: WorkerProcess] = [:]
    /// The number of workers that are being started.
    private var startingCount = 0
    /// The target number of workers: one at first, which verifies that workers can start, and all of them once jobs wait.
    private var targetCount = 1
    private var restarts: RestartPolicy
    private var restartTimers: [Int: OneShotTimer] = [:]
    private var queueTimer: OneShotTimer?
    private var lastJob: UInt32 = 0
    private var lastWorker = 0
    private var hasGreeted = false
    /// A Boolean value indicating that a failure to start was logged, and no worker has started since.
    private var isComplaining = false
    private var isShutDown = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ configuration: ImageWorkers.Configuration, path: String, loop: EventLoop, starter: WorkerStarter, isReady: Flag) {
        self.configuration = configuration
        self.path = path
        self.loop = loop
        self.starter = starter
        self.isReady = isReady
        var limits = TransformQueue<UInt32>.Limits()
        limits.running = max(1, configuration.count)
        limits.waiting = configuration.queue
        limits.maxQueueTime = configuration.queueTimeout
        queue = TransformQueue(limits: limits)
        restarts = RestartPolicy(tolerated: max(4, 2 * configuration.count))
    }

    // MARK: Jobs

    func submit(
        _ spec: TransformJob, _ image: [UInt8], pixels: Int, _ urgency: TransformPriority, _ ticket: TransformCancellation,
        _ reply: @escaping Reply
    ) {
        guard !ticket.isCancelled else { return reply(.failure(ImageError(.cancelled))) }
        guard !isShutDown else { return reply(.failure(ImageError(.cancelled))) }
        guard isReady.isSet else { return reply(.failure(ImageError(.workerFailed))) }
        let number = nextNumber()
        var job = spec
        job.id = number
        let (isTaken, displaced) = queue.enter(
            number, pixels: pixels, priority: urgency.priority, owners: urgency.owners, now: .now())
        guard isTaken else { return reply(.failure(ImageError(.overloaded, retryAfter: queue.retryAfter))) }
        ticket.number = number
        jobs[number] = Job(job: job, image: image, reply: reply)
        for other in displaced { finish(other, .failure(ImageError(.overloaded, retryAfter: queue.retryAfter))) }
        assign()
        if queue.waitingCount > 0 {
            targetCount = max(1, configuration.count)
            start()
        }
        watchQueue()
    }

    /// Raises the priority of a job, and updates its owners.
    func prioritize(_ ticket: TransformCancellation, _ priority: ImagePriority, _ owners: TransformOwners) {
        guard let number = ticket.number else { return }
        queue.prioritize(number, to: priority)
        queue.setOwners(owners, of: number)
        assign()
    }

    /// Cancels a job.
    func cancel(_ ticket: TransformCancellation) {
        guard let number = ticket.number, jobs[number] != nil else { return }
        let worker = workers.first { $0.value.state == .busy(number) }?.key
        // A running job keeps its permit until the worker is idle or gone.
        finish(number, .failure(ImageError(.cancelled)), keepsPermit: worker != nil)
        guard let worker else { return }
        workers[worker]?.state = .calledOff(number)
        workers[worker]?.add(TransformJob.cancellation(of: number))
        setTimer(worker, Self.killTimeout)
        flush(worker)
    }

    func shutDown() {
        isShutDown = true
        isReady.set(false)
        for number in Array(jobs.keys) { finish(number, .failure(ImageError(.cancelled))) }
        for worker in Array(workers.keys) { drop(worker) }
        for timer in restartTimers.values { timer.disarm() }
        restartTimers = [:]
        queueTimer?.disarm()
    }

    /// Returns an unused job number other than 0.
    private func nextNumber() -> UInt32 {
        repeat { lastJob &+= 1 } while lastJob == 0 || jobs[lastJob] != nil
        return lastJob
    }

    private func finish(_ number: UInt32, _ result: Result<TransformResult, ImageError>, keepsPermit: Bool = false) {
        if !keepsPermit { queue.remove(number) }
        guard let job = jobs.removeValue(forKey: number) else { return }
        // The bytes of the image and of the result were copied for the job.
        MallocTrimmer.shared.recordFreed(job.image.count + ((try? result.get().bytes.count) ?? 0))
        job.reply(result)
    }

    /// Assigns jobs to idle workers.
    private func assign() {
        while let (worker, _) = workers.first(where: { $0.value.state == .idle }), let number = queue.next(), let job = jobs[number] {
            workers[worker]?.state = .busy(number)
            workers[worker]?.add(job.job.head(before: job.image.count))
            workers[worker]?.add(job.image)
            setTimer(worker, configuration.timeLimit)
            flush(worker)
        }
    }

    private func watchQueue() {
        guard let expiry = queue.nextExpiry else { return }
        if queueTimer == nil {
            queueTimer = OneShotTimer(on: loop) { [weak self] in self?.assumeIsolated { $0.sendAway() } }
        }
        if queueTimer?.deadline == nil { queueTimer?.arm(after: max(.milliseconds(1), expiry.since(.now()))) }
    }

    private func sendAway() {
        for number in queue.expire(now: .now()) {
            finish(number, .failure(ImageError(.queueTimeout, retryAfter: queue.retryAfter)))
        }
        watchQueue()
    }

    // MARK: Workers

    /// Starts workers up to the target number.
    func start() {
        while !isShutDown, workers.count + startingCount + restartTimers.count < targetCount { startOne() }
    }

    private func startOne() {
        startingCount += 1
        starter.start(path) { [weak self, starter, loop] result in
            let pool = self
            loop.execute {
                guard let pool else {
                    if case .success(let started) = result { starter.discard(started) }
                    return
                }
                pool.assumeIsolated { $0.hasStarted(result) }
            }
        }
    }

    private func hasStarted(_ result: Result<WorkerStarter.Started, WorkerStarter.StartError>) {
        startingCount -= 1
        switch result {
        case .failure(let error):
            reportError("cannot start (error \(error.number))")
            replace()
        case .success(let started):
            guard !isShutDown else { return starter.discard(started) }
            lastWorker += 1
            let worker = lastWorker
            workers[worker] = WorkerProcess(started)
            let watch = WorkerWatch(self, worker)
            guard let registration = try? loop.register(started.socket, for: .readable, handler: watch) else { return fail(worker) }
            workers[worker]?.registration = registration
            setTimer(worker, Self.longestStart)
        }
    }

    fileprivate func ready(_ worker: Int, _ events: ReadyEvents) {
        guard workers[worker] != nil else { return }
        if events.contains(.writable) { flush(worker) }
        guard !events.isDisjoint(with: [.readable, .failed, .hungUp, .peerClosed]) else { return }
        guard let answers = workers[worker]?.read() else { return fail(worker) }
        for answer in answers {
            guard handleMessage(answer, from: worker) else { return fail(worker) }
        }
        assign()
    }

    /// Handles a message. Returns false if it is invalid in the current state of the worker.
    private func handleMessage(_ answer: WorkerMessage, from worker: Int) -> Bool {
        switch (workers[worker]?.state, answer) {
        case (.starting, .hello(let report)):
            workers[worker]?.state = .idle
            workers[worker]?.timer?.disarm()
            workerReady(report)
        case (.busy(let number), .done(let id, let result)) where id == number:
            guard let job = jobs[number]?.job, ImageWorkers.fits(result, job) else { return false }
            finish(number, .success(result))
            becomeIdle(worker)
        case (.busy(let number), .failed(let id, let refusal)) where id == number:
            finish(number, .failure(ImageError(refusal)))
            becomeIdle(worker)
        case (.calledOff(let number), .done(let id, _)) where id == number, (.calledOff(let number), .failed(let id, _)) where id == number:
            queue.remove(number)
            becomeIdle(worker)
        default: return false
        }
        return true
    }

    private func becomeIdle(_ worker: Int) {
        workers[worker]?.timer?.disarm()
        workers[worker]?.state = .idle
        workers[worker]?.jobs += 1
        guard let jobs = workers[worker]?.jobs, jobs >= Self.maxJobsPerWorker else { return }
        drop(worker)
        start()
    }

    private func workerReady(_ report: WorkerReport) {
        isReady.set(true)
        if isComplaining { configuration.logger.info("images are resized again") }
        isComplaining = false
        guard !hasGreeted else { return }
        hasGreeted = true
        let line: Logger.Metadata = [
            "workers": "\(max(1, configuration.count))", "libvips": "\(report.library)", "seccomp": "\(report.hasSeccomp)",
            "landlock": "\(report.landlock)", "limits": "\(report.hasLimits)",
        ]
        if report.hasSeccomp && report.landlock > 0 && report.hasLimits {
            configuration.logger.info("images are resized", metadata: line)
        } else {
            configuration.logger.warning("images are resized in processes that are not completely sandboxed", metadata: line)
        }
    }

    /// Writes as much as the socket accepts, and registers for write events if bytes remain.
    private func flush(_ worker: Int) {
        guard let isAlive = workers[worker]?.write() else { return }
        // If the worker is gone, the closed socket is reported in the next iteration of the event loop.
        guard isAlive, let process = workers[worker], let registration = process.registration else { return }
        try? loop.update(registration, for: process.interest)
    }

    private func setTimer(_ worker: Int, _ duration: Duration) {
        workers[worker]?.timer?.disarm()
        let timer = OneShotTimer(on: loop) { [weak self] in self?.assumeIsolated { $0.fail(worker) } }
        workers[worker]?.timer = timer
        timer.arm(after: duration)
    }

    /// Kills a worker that crashed, exceeded its time limit or sent invalid data.
    private func fail(_ worker: Int) {
        guard let state = workers[worker]?.state else { return }
        drop(worker)
        switch state {
        case .starting:
            reportError("does not start")
            replace()
        case .idle: replace()
        case .busy(let number):
            configuration.logger.warning("an image worker was lost", metadata: ["bytes": "\(jobs[number]?.image.count ?? 0)"])
            finish(number, .failure(ImageError(.workerFailed)))
            replace()
        // The worker was killed because of a cancellation, which is not counted as a crash.
        case .calledOff(let number):
            queue.remove(number)
            start()
        }
        assign()
    }

    private func drop(_ worker: Int) {
        guard let process = workers.removeValue(forKey: worker) else { return }
        process.timer?.disarm()
        if let registration = process.registration { loop.deregister(registration) }
        starter.discard(WorkerStarter.Started(process: process.process, socket: process.socket))
    }

    /// Starts a replacement, after a delay if workers crash repeatedly.
    private func replace() {
        guard !isShutDown else { return }
        let delay = restarts.died(now: .now())
        guard delay > .zero else { return start() }
        lastWorker += 1
        let number = lastWorker
        let timer = OneShotTimer(on: loop) { [weak self] in self?.assumeIsolated { $0.restart(number) } }
        restartTimers[number] = timer
        timer.arm(after: delay)
    }

    private func restart(_ number: Int) {
        restartTimers[number] = nil
        start()
    }

    /// Logs that no worker can start. If none ever did, originals are served until one does.
    ///
    /// After a first start, jobs wait up to their queue timeout instead. Why: an original in place of a resized image would expose camera metadata,
    /// and
    /// caches would store it under the URL of the resized image.
    private func reportError(_ what: String) {
        let isAnyoneThere = workers.values.contains { $0.state != .starting }
        guard !isAnyoneThere else { return }
        if !isComplaining {
            let consequence = hasGreeted ? "resized images are 503 until one starts" : "originals are served"
            configuration.logger.error("intertwine-image-worker \(what): \(consequence)", metadata: ["path": "\(path)"])
        }
        isComplaining = true
        guard !hasGreeted else { return }
        isReady.set(false)
        for number in Array(jobs.keys) { finish(number, .failure(ImageError(.workerFailed))) }
    }
}

/// A thread-safe flag, such as the availability of a worker.
final class Flag: Sendable {
    private let value: Atomic<Bool>

    init(_ value: Bool) {
        self.value = Atomic(value)
    }

    var isSet: Bool { value.load(ordering: .relaxed) }

    /// Sets the flag.
    ///
    /// - Returns: The previous value.
    @discardableResult
    func set(_ new: Bool) -> Bool { value.exchange(new, ordering: .relaxed) }
}

/// A cancellation handle of a job. It can be cancelled before the event loop receives the job.
final class TransformCancellation: Sendable {
    private let cancelled = Atomic<Bool>(false)
    /// The number of the job; 0 before it is known. It is set and read on the event loop.
    private let job = Atomic<UInt32>(0)

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    var number: UInt32? {
        get {
            let number = job.load(ordering: .relaxed)
            return number == 0 ? nil : number
        }
        set { job.store(newValue ?? 0, ordering: .relaxed) }
    }

    func cancel() {
        cancelled.store(true, ordering: .releasing)
    }
}

/// The event handler of the socket of one worker.
private final class WorkerWatch: EventHandler {
    private weak var pool: WorkerPool?
    private let worker: Int

    init(_ pool: WorkerPool, _ worker: Int) {
        self.pool = pool
        self.worker = worker
    }

    func ready(_ events: ReadyEvents) {
        let worker = worker
        pool?.assumeIsolated { $0.ready(worker, events) }
    }
}
