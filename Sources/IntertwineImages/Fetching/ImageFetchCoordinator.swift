internal import Dispatch
internal import FoundationEssentials
internal import IntertwineEventLoop
internal import IntertwineFetch
internal import IntertwinePrimitives
internal import Synchronization

/// An actor that runs all downloads on the event loop of their transfers. Events of transfers, new waiters and cancellations are therefore
/// serialized.
///
/// Decisions are in ``ImageFetchStateMachine``. The actor performs its effects with transfers, timers and files.
actor ImageFetchCoordinator {
    typealias Reply = DownloadSubscribers.Reply

    private struct TimerKey: Hashable {
        let download: UInt64
        let timer: FetchEffect.Timer
    }

    private static let files = DispatchQueue(label: "intertwine.images.files")

    private nonisolated let loop: EventLoop
    private let configuration: ImageConfiguration
    private let transfers: CurlClient
    private var state: ImageFetchStateMachine
    /// The image analyzer; nil without a transformer or without a metadata table.
    private let reviews: ImageAnalyzer?
    /// The transfers by download number.
    private var fetches: [UInt64: FetchID] = [:]
    private var names: [UInt64: DNSPrefetch] = [:]
    private var timers: [TimerKey: OneShotTimer] = [:]
    private var queueTimer: OneShotTimer?
    /// The download whose redirect callback is running, and if it may follow the redirect.
    private var asking: (download: UInt64, mayGo: Bool)?

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ configuration: ImageConfiguration, client: CurlClient, memoryCache: MemoryCache, disk: DiskCache?, budget: ByteBudget) {
        self.configuration = configuration
        self.transfers = client
        loop = client.loop
        let store = ImageStore(memoryCache: memoryCache, disk: disk)
        reviews = configuration.facts.flatMap { [loop] facts in
            configuration.transformer.map { ImageAnalyzer($0, facts: facts, store: store, loop: loop, clock: configuration.clock) }
        }
        let exit = UnsubscribeHandle()
        state = ImageFetchStateMachine(configuration, store: store, budget: budget) { exit.unsubscribe($0) }
        exit.open(to: self)
    }

    // MARK: Subscriptions

    func subscribe(_ request: ImageRequest, _ ticket: ImageCancellation, _ reply: @escaping Reply) {
        guard !ticket.isCancelled else { return state.refuse(ImageError(.cancelled), reply) }
        state.subscribe(request, ticket.number, reply)
        resume()
    }

    /// Returns the complete original of an image, for resizing. The format is that of the origin; a negotiating origin sends a common one.
    ///
    /// - Parameter allowsStale: True if a stale image is acceptable during its revalidation.
    func original(
        of source: String, id: UUID, priority: ImagePriority, allowsStale: Bool, _ ticket: ImageCancellation
    ) async -> ImageResponse {
        var request = ImageRequest(source, id: id, priority: priority)
        (request.requiresCompleteBody, request.isDecoded, request.allowsStale) = (true, true, allowsStale)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                subscribe(request, ticket) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            ticket.cancel()
            loop.execute { self.assumeIsolated { $0.unsubscribe(ticket.number) } }
        }
    }

    /// Removes a waiter. Calls at any time, with unknown numbers and repeated calls are valid.
    func unsubscribe(_ waiter: UInt64) {
        state.unsubscribe(waiter)
        resume()
    }

    func cancel(_ id: UUID) -> Bool {
        defer { resume() }
        return state.cancel(id)
    }

    func viewport(visible: [UUID], gone: [UUID]) -> Int {
        defer { resume() }
        return state.viewport(visible: visible, gone: gone)
    }

    /// Stores an image that lacks its end but was decoded.
    func keepUnended(_ image: CachedImage) { state.keepUnended(image) }

    /// Removes an image that a transformer could not decode to its end. Its own URL fails, too, for the time of a remembered failure.
    func invalidateUndecodable(_ source: String, _ failure: ImageError) { state.invalidateUndecodable(source, failure) }

    /// Discards current and pending analysis of the selected images.
    func forgetReviews(of selection: ImageSelection) { reviews?.assumeIsolated { $0.forget(selection) } }

    /// Purges the selected images.
    ///
    /// - Parameter done: Called once no selected image can be found, with true if nothing of the selection is left on disk.
    func purge(_ selection: ImageSelection, _ done: @escaping @Sendable (Bool) -> Void) {
        forgetReviews(of: selection)
        state.purge(selection, done)
    }

    func shutDown() {
        reviews?.assumeIsolated { $0.shutDown() }
        state.shutDown()
        resume()
        queueTimer?.disarm()
    }

    func snapshot() -> ImageMetrics { state.report }

    func flush() async {
        await withCheckedContinuation { continuation in state.store.flush { continuation.resume() } }
    }

    // MARK: Events of transfers

    func reached(_ stage: FetchStage, _ number: UInt64) { state.reached(stage, number) }

    func repeated(_ number: UInt64) { state.repeated(number) }

    /// Handles a redirect of a transfer.
    ///
    /// - Returns: False if the transfer has to wait.
    func redirected(to url: FetchURL, _ number: UInt64) -> Bool {
        asking = (number, state.redirected(to: url, number))
        resume()
        defer { asking = nil }
        return asking?.mayGo ?? false
    }

    func received(_ head: FetchHead, _ number: UInt64) -> Bool {
        defer { resume() }
        return state.received(head, number)
    }

    func received(_ bytes: UnsafeRawBufferPointer, _ number: UInt64) -> Bool {
        defer { resume() }
        return state.received(bytes, number)
    }

    func ended(_ failure: FetchError?, _ number: UInt64) {
        fetches[number] = nil
        state.ended(failure, number)
        resume()
    }

    // MARK: Effects

    /// Performs the pending effects, and those that they cause.
    private func resume() {
        while let step = state.nextStep() { perform(step) }
    }

    private func perform(_ step: FetchEffect) {
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
                flights.resume()
            }
        case .disarm(let number, let timer): timers.removeValue(forKey: TimerKey(download: number, timer: timer))?.disarm()
        case .drop(let number):
            for timer in FetchEffect.Timer.allCases { timers.removeValue(forKey: TimerKey(download: number, timer: timer))?.disarm() }
            if let name = names.removeValue(forKey: number) { transfers.assumeIsolated { $0.cancelPrefetch(name) } }
            if let fetch = fetches.removeValue(forKey: number) { transfers.cancel(fetch) }
        case .review(let image): reviews?.assumeIsolated { $0.add(image) }
        case .watchQueue(let expiry):
            guard queueTimer?.deadline == nil else { return }
            let wait = max(.zero, expiry.since(.now()))
            if let queueTimer { return queueTimer.arm(after: wait) }
            queueTimer = timer(after: wait) { flights in
                flights.state.expireQueue()
                flights.resume()
            }
        }
    }

    private func found(_ image: CachedImage?, _ number: UInt64) {
        state.found(image, number)
        resume()
    }

    private func waitForName(of url: FetchURL, for number: UInt64) {
        let limit = configuration.limits.resolve
        let wait = transfers.assumeIsolated { transfers in
            transfers.waitForName(of: url, within: limit) { [weak self] failure in
                self?.assumeIsolated { $0.named(number, failure) }
            }
        }
        // The name is resolved already.
        guard let wait else { return state.named(number, nil) }
        names[number] = wait
    }

    private func named(_ number: UInt64, _ failure: FetchError?) {
        names[number] = nil
        state.named(number, failure)
        resume()
    }

    /// Reads an image file of a local folder on a dispatch queue, and handles it as a response of an origin.
    private func readFile(_ folder: SandboxedDirectory, _ name: String, for number: UInt64) {
        let limit = configuration.limits.bodyBytes
        Self.files.async { [weak self, loop] in
            let file: Result<SandboxedDirectory.File, SandboxedDirectory.AccessError>
            do throws(SandboxedDirectory.AccessError) {
                file = .success(try folder.read(name, limit: limit))
            } catch {
                file = .failure(error)
            }
            guard let flights = self else { return }
            loop.execute {
                flights.assumeIsolated { flights in
                    flights.state.read(file, number)
                    flights.resume()
                }
            }
        }
    }

    private func timer(after duration: Duration, _ action: @escaping @Sendable (isolated ImageFetchCoordinator) -> Void) -> OneShotTimer {
        let timer = OneShotTimer(on: loop) { [weak self] in self?.assumeIsolated(action) }
        timer.arm(after: duration)
        return timer
    }
}

/// A handle that unsubscribes readers of a body from any thread.
private final class UnsubscribeHandle: Sendable {
    private struct Route: Sendable {
        weak var coordinator: ImageFetchCoordinator?
    }

    private let route = Mutex(Route())

    func open(to flights: ImageFetchCoordinator) { route.withLock { $0.coordinator = flights } }

    func unsubscribe(_ waiter: UInt64) {
        guard let flights = route.withLock({ $0.coordinator }) else { return }
        flights.execute { $0.unsubscribe(waiter) }
    }
}

extension ImageFetchCoordinator {
    /// Runs the closure on the event loop of the actor.
    nonisolated func execute(_ body: @escaping @Sendable (isolated ImageFetchCoordinator) -> Void) {
        loop.execute { self.assumeIsolated(body) }
    }
}
