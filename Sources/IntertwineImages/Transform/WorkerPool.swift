internal import IntertwineHTTPServer
internal import Logging
internal import Synchronization

/// It runs on an event loop and never blocks on a worker or on the start of a process.
actor WorkerPool: EventLoopActor {
    typealias Reply = @Sendable (Result<TransformResult, ImageError>) -> Void

    private static let longestStart = Duration.seconds(20)
    /// The time after a cancellation before the worker is killed, because encoders cannot be stopped.
    /// Why: a cancellation has to complete within 50 ms, including its delivery and the end of the process on busy processors.
    private static let killTimeout = Duration.milliseconds(10)
    private static let pixelsPerSecond = 10_000_000
    private static let maxJobsPerWorker = 10_000

    private struct Job {
        var job: TransformJob
        let image: [UInt8]
        let reply: Reply
    }

    nonisolated let loop: EventLoop
    nonisolated let isReady = Atomic(true)
    private let configuration: ImageWorkers.Configuration
    private let path: String
    private let starter: WorkerStarter
    private var queue: AdmissionQueue<UInt32>
    private var jobs: [UInt32: Job] = [:]
    private var workers: [Int: WorkerProcess] = [:]
    private var startingCount = 0
    private var targetCount = 1
    private var restarts: RestartPolicy
    private var restartTimers: [Int: OneShotTimer] = [:]
    private var queueTimer: OneShotTimer?
    private var lastJob: UInt32 = 0
    private var lastWorker = 0
    private var hasGreeted = false
    private var isComplaining = false
    private var isShutDown = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ configuration: ImageWorkers.Configuration, path: String, loop: EventLoop, starter: WorkerStarter) {
        self.configuration = configuration
        self.path = path
        self.loop = loop
        self.starter = starter
        let count = max(1, configuration.count)
        // The cost is the number of pixels that are held decoded. Running jobs use at most the memory of one worker, together.
        let pixels = ImageLimits(memory: configuration.memory).mostPixels
        queue = AdmissionQueue(
            limits: AdmissionQueue.Limits(
                running: count, perOrigin: max(1, count / 2), prefetchesPerOrigin: max(1, count / 2), runningCost: pixels,
                waiting: configuration.queue, waitingCost: 6 * pixels, maxQueueTime: configuration.queueTimeout))
        restarts = RestartPolicy(tolerated: max(4, 2 * configuration.count))
    }

    // MARK: Jobs

    func perform(
        _ job: TransformJob, on image: [UInt8], pixels: Int, _ urgency: TransformPriority
    ) async -> Result<TransformResult, ImageError> {
        guard !Task.isCancelled, !isShutDown else { return .failure(ImageError(.cancelled)) }
        guard isReady.load(ordering: .relaxed) else { return .failure(ImageError(.workerFailed)) }
        let number = nextNumber()
        urgency.listen { [weak self] in self?.execute { $0.prioritize(number, urgency.priority) } }
        defer { urgency.listen(nil) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                submit(number, Job(job: job, image: image) { continuation.resume(returning: $0) }, pixels: pixels, urgency)
            }
        } onCancel: {
            execute { $0.cancel(number) }
        }
    }

    private func submit(_ number: UInt32, _ job: Job, pixels: Int, _ urgency: TransformPriority) {
        let (isAccepted, displaced) = queue.enter(
            number, from: urgency.origin, cost: max(1, pixels), priority: urgency.priority, now: .now())
        guard isAccepted else { return job.reply(.failure(overloaded)) }
        jobs[number] = job
        jobs[number]?.job.id = number
        for other in displaced { finish(other, .failure(overloaded)) }
        assign()
        if queue.waitingCount > 0 {
            targetCount = max(1, configuration.count)
            start()
        }
        watchQueue()
    }

    private var overloaded: ImageError { ImageError(.overloaded, retryAfter: retryAfter) }

    /// The estimated time in seconds until all waiting jobs are done.
    private var retryAfter: Int { 1 + queue.waitingCost / (Self.pixelsPerSecond * max(1, configuration.count)) }

    private func prioritize(_ number: UInt32, _ priority: ImagePriority) {
        if priority > .prefetch { queue.setPriority(priority, of: number, isNewest: true, now: .now()) }
        assign()
    }

    private func cancel(_ number: UInt32) {
        guard jobs[number] != nil else { return }
        let worker = workers.first { $0.value.state == .busy(number) }?.key
        // A running job keeps its permit until the worker is idle or gone.
        finish(number, .failure(ImageError(.cancelled)), keepsPermit: worker != nil)
        guard let worker else { return }
        workers[worker]?.state = .cancelled(number)
        workers[worker]?.add(TransformJob.cancellation(of: number))
        setTimer(worker, Self.killTimeout)
        flush(worker)
    }

    func shutDown() {
        isShutDown = true
        isReady.store(false, ordering: .relaxed)
        for number in Array(jobs.keys) { finish(number, .failure(ImageError(.cancelled))) }
        for worker in Array(workers.keys) { drop(worker) }
        for timer in restartTimers.values { timer.disarm() }
        restartTimers = [:]
        queueTimer?.disarm()
    }

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
        let timer = queueTimer ?? timer { $0.sendAway() }
        if timer.deadline == nil { timer.arm(after: max(.milliseconds(1), expiry.since(.now()))) }
        queueTimer = timer
    }

    private func sendAway() {
        for number in queue.expire(now: .now()) {
            finish(number, .failure(ImageError(.queueTimeout, retryAfter: retryAfter)))
        }
        watchQueue()
    }

    // MARK: Workers

    func start() {
        while !isShutDown, workers.count + startingCount + restartTimers.count < targetCount { startOne() }
    }

    private func startOne() {
        startingCount += 1
        starter.start(path, memory: configuration.memory) { [weak self, starter] result in
            if let self {
                execute { $0.hasStarted(result) }
            } else if case .success(let started) = result {
                starter.discard(started)
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
            workers[worker]?.registration = try? watch(started.socket, for: .readable) { $0.ready(worker, $1) }
            guard workers[worker]?.registration != nil else { return fail(worker) }
            setTimer(worker, Self.longestStart)
        }
    }

    private func ready(_ worker: Int, _ events: ReadyEvents) {
        guard workers[worker] != nil else { return }
        if events.contains(.writable) { flush(worker) }
        guard !events.isDisjoint(with: [.readable, .failed, .hungUp, .peerClosed]) else { return }
        guard let answers = workers[worker]?.read() else { return fail(worker) }
        for answer in answers {
            guard handleMessage(answer, from: worker) else { return fail(worker) }
        }
        assign()
    }

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
        case (.cancelled(let number), .done(let id, _)) where id == number, (.cancelled(let number), .failed(let id, _)) where id == number:
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
        isReady.store(true, ordering: .relaxed)
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

    private func flush(_ worker: Int) {
        guard let isAlive = workers[worker]?.write() else { return }
        // If the worker is gone, the closed socket is reported in the next iteration of the event loop.
        guard isAlive, let process = workers[worker], let registration = process.registration else { return }
        try? loop.update(registration, for: process.interest)
    }

    private func setTimer(_ worker: Int, _ duration: Duration) {
        workers[worker]?.timer?.disarm()
        let timer = timer { $0.fail(worker) }
        workers[worker]?.timer = timer
        timer.arm(after: duration)
    }

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
        case .cancelled(let number):
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

    private func replace() {
        guard !isShutDown else { return }
        let delay = restarts.died(now: .now())
        guard delay > .zero else { return start() }
        lastWorker += 1
        let number = lastWorker
        let timer = timer { $0.restart(number) }
        restartTimers[number] = timer
        timer.arm(after: delay)
    }

    private func restart(_ number: Int) {
        restartTimers[number] = nil
        start()
    }

    /// After a first start, jobs wait up to their queue timeout instead. Why: an original in place of a resized image would expose camera
    /// metadata, and caches would store it under the URL of the resized image.
    private func reportError(_ what: String) {
        let isAnyoneThere = workers.values.contains { $0.state != .starting }
        guard !isAnyoneThere else { return }
        if !isComplaining {
            let consequence = hasGreeted ? "resized images are 503 until one starts" : "originals are served"
            configuration.logger.error("intertwine-image-worker \(what): \(consequence)", metadata: ["path": "\(path)"])
        }
        isComplaining = true
        guard !hasGreeted else { return }
        isReady.store(false, ordering: .relaxed)
        for number in Array(jobs.keys) { finish(number, .failure(ImageError(.workerFailed))) }
    }
}
