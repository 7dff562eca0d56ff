internal import Dispatch
internal import FoundationEssentials
internal import IntertwineEventLoop
internal import IntertwineFetch
internal import IntertwinePrimitives
internal import Synchronization

/// All flights, and who waits for which. Lives on the loop of its transfers, so that an event of a transfer, a waiter that comes and
/// one that goes never meet in the middle of anything.
///
/// What is to be done ``FlightsState`` says. It is done here, with transfers, timers and files.
actor Flights {
    typealias Reply = FlightReplies.Reply

    private struct TimerKey: Hashable {
        let download: UInt64
        let timer: FlightStep.Timer
    }

    private static let files = DispatchQueue(label: "intertwine.images.files")

    private nonisolated let loop: EventLoop
    private let configuration: ImageConfiguration
    private let transfers: Transfers
    private var state: FlightsState
    /// Nil where nothing decodes pictures, or nobody wants to know.
    private let reviews: PictureReviews?
    /// By the numbers of their downloads.
    private var fetches: [UInt64: FetchID] = [:]
    private var names: [UInt64: NameWait] = [:]
    private var timers: [TimerKey: OneShotTimer] = [:]
    private var queueTimer: OneShotTimer?
    /// The download whose transfer asks just now whether it may go on to where it was redirected to.
    private var asking: (download: UInt64, mayGo: Bool)?

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ configuration: ImageConfiguration, transfers: Transfers, memory: MemoryCache, disk: DiskCache?, budget: ByteBudget) {
        self.configuration = configuration
        self.transfers = transfers
        loop = transfers.loop
        let store = PictureStore(memory: memory, disk: disk)
        reviews = configuration.facts.flatMap { [loop] facts in
            configuration.transformer.map { PictureReviews($0, facts: facts, store: store, loop: loop, clock: configuration.clock) }
        }
        let exit = FlightExit()
        state = FlightsState(configuration, store: store, budget: budget) { exit.leave($0) }
        exit.open(to: self)
    }

    // MARK: Who comes and goes

    func enter(_ request: ImageRequest, _ ticket: ImageTicket, _ reply: @escaping Reply) {
        guard !ticket.hasLeft else { return state.refuse(ImageFailure(.cancelled), reply) }
        state.enter(request, ticket.number, reply)
        goOn()
    }

    /// The whole of a picture, for who makes others of it: in whatever format its origin has, of those that everybody takes if it has several.
    /// - Parameter takesStale: whether it will do while it is being fetched anew.
    func original(
        of source: String, id: UUID, priority: ImagePriority, takesStale: Bool, _ ticket: ImageTicket
    ) async -> ImageAnswer {
        var request = ImageRequest(source, id: id, priority: priority)
        (request.needsWhole, request.isDecoded, request.takesStale) = (true, true, takesStale)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enter(request, ticket) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            ticket.leave()
            loop.execute { self.assumeIsolated { $0.leave(ticket.number) } }
        }
    }

    /// Legal at any time, for anybody, twice.
    func leave(_ waiter: UInt64) {
        state.leave(waiter)
        goOn()
    }

    func cancel(_ id: UUID) -> Bool {
        defer { goOn() }
        return state.cancel(id)
    }

    func viewport(visible: [UUID], gone: [UUID]) -> Int {
        defer { goOn() }
        return state.viewport(visible: visible, gone: gone)
    }

    /// Stores an image without its end that was decoded all the same.
    func keepUnended(_ image: CachedImage) { state.keepUnended(image) }

    /// Whoever decoded it found that it is no picture to its end: it is neither kept nor served any longer, at its own URL either.
    func spoil(_ source: String, _ failure: ImageFailure) { state.spoil(source, failure) }

    /// Whatever they turn out to look like from here on is not learnt.
    func forgetReviews(of selection: ImageSelection) { reviews?.assumeIsolated { $0.forget(selection) } }

    /// - Parameter done: called where nothing of it is found any more, with whether nothing of it is left on disk either.
    func purge(_ selection: ImageSelection, _ done: @escaping @Sendable (Bool) -> Void) {
        forgetReviews(of: selection)
        state.purge(selection, done)
    }

    func shutDown() {
        reviews?.assumeIsolated { $0.shutDown() }
        state.shutDown()
        goOn()
        queueTimer?.disarm()
    }

    func snapshot() -> ImageMetrics { state.report }

    func flush() async {
        await withCheckedContinuation { continuation in state.store.flush { continuation.resume() } }
    }

    // MARK: What the transfers report

    func reached(_ stage: FetchStage, _ number: UInt64) { state.reached(stage, number) }

    func repeated(_ number: UInt64) { state.repeated(number) }

    /// - Returns: false where it has to wait.
    func redirected(to url: FetchURL, _ number: UInt64) -> Bool {
        asking = (number, state.redirected(to: url, number))
        goOn()
        defer { asking = nil }
        return asking?.mayGo ?? false
    }

    func received(_ head: FetchHead, _ number: UInt64) -> Bool {
        defer { goOn() }
        return state.received(head, number)
    }

    func received(_ bytes: UnsafeRawBufferPointer, _ number: UInt64) -> Bool {
        defer { goOn() }
        return state.received(bytes, number)
    }

    func ended(_ failure: FetchFailure?, _ number: UInt64) {
        fetches[number] = nil
        state.ended(failure, number)
        goOn()
    }

    // MARK: What is done

    /// Does what is to be done, and what that leads to at once.
    private func goOn() {
        while let step = state.nextStep() { perform(step) }
    }

    private func perform(_ step: FlightStep) {
        switch step {
        case .readDisk(let number, let source, let wanted):
            state.store.readDisk(source, wanted) { [weak self, loop] image in
                guard let flights = self else { return }
                loop.execute { flights.assumeIsolated { $0.found(image, number) } }
            }
        case .readFile(let number, let folder, let name): readFile(folder, name, for: number)
        case .waitForName(let number, let url): waitForName(of: url, for: number)
        case .fetch(let number, let request): fetches[number] = transfers.start(request, delegate: DownloadDelegate(self, number))
        case .proceed(let number):
            if asking?.download == number {
                asking?.mayGo = true
            } else if let fetch = fetches[number] {
                transfers.proceed(fetch)
            }
        case .setPaused(let number, let isPaused):
            if let fetch = fetches[number] { transfers.assumeIsolated { $0.setPaused(isPaused, fetch) } }
        case .arm(let number, let timer, let duration):
            let key = TimerKey(download: number, timer: timer)
            timers[key] = self.timer(after: duration) { flights in
                flights.timers[key] = nil
                flights.state.due(timer, number)
                flights.goOn()
            }
        case .disarm(let number, let timer): timers.removeValue(forKey: TimerKey(download: number, timer: timer))?.disarm()
        case .drop(let number):
            for timer in FlightStep.Timer.allCases { timers.removeValue(forKey: TimerKey(download: number, timer: timer))?.disarm() }
            if let name = names.removeValue(forKey: number) { transfers.assumeIsolated { $0.leave(name) } }
            if let fetch = fetches.removeValue(forKey: number) { transfers.cancel(fetch) }
        case .review(let image): reviews?.assumeIsolated { $0.add(image) }
        case .watchQueue(let expiry):
            guard queueTimer?.deadline == nil else { return }
            let wait = max(.zero, expiry.since(.now()))
            if let queueTimer { return queueTimer.arm(after: wait) }
            queueTimer = timer(after: wait) { flights in
                flights.state.expireQueue()
                flights.goOn()
            }
        }
    }

    private func found(_ image: CachedImage?, _ number: UInt64) {
        state.found(image, number)
        goOn()
    }

    private func waitForName(of url: FetchURL, for number: UInt64) {
        let limit = configuration.limits.resolve
        let wait = transfers.assumeIsolated { transfers in
            transfers.waitForName(of: url, within: limit) { [weak self] failure in
                self?.assumeIsolated { $0.named(number, failure) }
            }
        }
        // It is known already.
        guard let wait else { return state.named(number, nil) }
        names[number] = wait
    }

    private func named(_ number: UInt64, _ failure: FetchFailure?) {
        names[number] = nil
        state.named(number, failure)
        goOn()
    }

    /// A picture that lies in a folder of this machine: read on a queue of its own, and then as if an origin had sent it.
    private func readFile(_ folder: ConfinedFolder, _ name: String, for number: UInt64) {
        let limit = configuration.limits.bodyBytes
        Self.files.async { [weak self, loop] in
            let file: Result<ConfinedFolder.File, ConfinedFolder.Failure>
            do throws(ConfinedFolder.Failure) {
                file = .success(try folder.read(name, limit: limit))
            } catch {
                file = .failure(error)
            }
            guard let flights = self else { return }
            loop.execute {
                flights.assumeIsolated { flights in
                    flights.state.read(file, number)
                    flights.goOn()
                }
            }
        }
    }

    private func timer(after duration: Duration, _ action: @escaping @Sendable (isolated Flights) -> Void) -> OneShotTimer {
        let timer = OneShotTimer(on: loop) { [weak self] in self?.assumeIsolated(action) }
        timer.arm(after: duration)
        return timer
    }
}

/// The way out for those who read a body, from whatever thread they leave on.
private final class FlightExit: Sendable {
    private struct Way: Sendable {
        weak var flights: Flights?
    }

    private let way = Mutex(Way())

    func open(to flights: Flights) { way.withLock { $0.flights = flights } }

    func leave(_ waiter: UInt64) {
        guard let flights = way.withLock({ $0.flights }) else { return }
        flights.execute { $0.leave(waiter) }
    }
}

extension Flights {
    /// Has something done on its loop.
    nonisolated func execute(_ body: @escaping @Sendable (isolated Flights) -> Void) {
        loop.execute { self.assumeIsolated(body) }
    }
}
