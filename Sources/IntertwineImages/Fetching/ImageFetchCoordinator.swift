internal import Dispatch
internal import FoundationEssentials
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

/// An actor that runs all downloads on the event loop of their transfers. Events of transfers, new waiters and cancellations are therefore
/// serialized.
///
/// Decisions are in ``ImageFetchStateMachine``. The actor performs its effects with transfers, timers and files.
actor ImageFetchCoordinator: EventLoopActor {
    private struct TimerKey: Hashable {
        let download: UInt64
        let timer: FetchEffect.Timer
    }

    private static let files = DispatchQueue(label: "intertwine.images.files")

    nonisolated let loop: EventLoop
    private let configuration: ImageConfiguration
    private let client: CurlClient
    private let cache: ImageCache
    private var state: ImageFetchStateMachine
    /// The image analyzer; nil without a transformer or without a metadata table.
    private let analyzer: ImageAnalyzer?
    /// The transfers by download number.
    private var fetches: [UInt64: FetchID] = [:]
    private var names: [UInt64: DNSPrefetch] = [:]
    private var timers: [TimerKey: OneShotTimer] = [:]
    private var queueTimer: OneShotTimer?

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ configuration: ImageConfiguration, client: CurlClient, cache: ImageCache, budget: MemoryBudget) {
        (self.configuration, self.client, self.cache, loop) = (configuration, client, cache, client.loop)
        analyzer = configuration.facts.flatMap { [loop] facts in
            configuration.transformer.map { ImageAnalyzer($0, facts: facts, cache: cache, loop: loop, clock: configuration.clock) }
        }
        state = ImageFetchStateMachine(configuration, cache: cache, budget: budget)
    }

    // MARK: Subscriptions

    /// Returns the response to a request for an original once its head is known. Cancelling the task cancels the request.
    func response(to request: ImageRequest) async -> ImageResponse {
        let token = CancellationToken()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !token.isCancelled else { return state.refuse(ImageError(.cancelled)) { continuation.resume(returning: $0) } }
                let onLeave: @Sendable () -> Void = { [weak self] in self?.execute { $0.unsubscribe(token.number) } }
                state.subscribe(request, token.number, onLeave: onLeave) { continuation.resume(returning: $0) }
                resume()
            }
        } onCancel: {
            token.cancel()
            execute { $0.unsubscribe(token.number) }
        }
    }

    /// Removes a waiter. Calls at any time, with unknown numbers and repeated calls are valid.
    private func unsubscribe(_ waiter: UInt64) {
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

    /// Purges the selected images. Returns once no selected image can be found.
    ///
    /// - Returns: True if nothing of the selection is left on disk.
    func purge(_ selection: ImageSelection) async -> Bool {
        forget(selection)
        return await withCheckedContinuation { continuation in cache.purge(selection) { continuation.resume(returning: $0) } }
    }

    private func forget(_ selection: ImageSelection) {
        // A current analysis must not add metadata of the images again.
        analyzer?.assumeIsolated { $0.forget(selection) }
        configuration.facts?.forget(selection)
        state.purge(selection)
    }

    func shutDown() {
        analyzer?.assumeIsolated { $0.shutDown() }
        state.shutDown()
        resume()
        queueTimer?.disarm()
    }

    var metrics: ImageMetrics { state.report }

    // MARK: Effects

    /// Performs the pending effects, and those that they cause.
    private func resume() {
        while let step = state.nextStep() { perform(step) }
    }

    /// Reports an event to the state machine, and performs the effects.
    private func update(_ report: (inout ImageFetchStateMachine) -> Void) {
        report(&state)
        resume()
    }

    private func perform(_ step: FetchEffect) {
        switch step {
        case .readDisk(let number, let source, let wanted):
            cache.readDisk(source, wanted) { [weak self] image in self?.execute { $0.update { $0.found(image, number) } } }
        case .readFile(let number, let folder, let name): readFile(folder, name, for: number)
        case .waitForName(let number, let url): waitForName(of: url, for: number)
        case .fetch(let number, let request):
            fetches[number] = client.start(request) { event in
                // Safe: the call is synchronous and stays on the thread that owns the bytes of the event.
                nonisolated(unsafe) let event = event
                return self.assumeIsolated { $0.handle(event, number) }
            }
        case .proceed(let number): if let fetch = fetches[number] { client.proceed(fetch) }
        case .setPaused(let number, let isPaused):
            if let fetch = fetches[number] { client.assumeIsolated { $0.setPaused(isPaused, fetch) } }
        case .arm(let number, let timer, let duration):
            let key = TimerKey(download: number, timer: timer)
            timers[key] = self.timer { coordinator in
                coordinator.timers[key] = nil
                coordinator.update { $0.due(timer, number) }
            }
            timers[key]?.arm(after: duration)
        case .disarm(let number, let timer): timers.removeValue(forKey: TimerKey(download: number, timer: timer))?.disarm()
        case .drop(let number):
            for timer in FetchEffect.Timer.allCases { timers.removeValue(forKey: TimerKey(download: number, timer: timer))?.disarm() }
            if let name = names.removeValue(forKey: number) { client.assumeIsolated { $0.cancelPrefetch(name) } }
            if let fetch = fetches.removeValue(forKey: number) { client.cancel(fetch) }
        case .review(let image): analyzer?.assumeIsolated { $0.add(image) }
        case .watchQueue(let expiry):
            guard queueTimer?.deadline == nil else { return }
            let timer = queueTimer ?? timer { $0.update { $0.expireQueue() } }
            timer.arm(after: max(.zero, expiry.since(.now())))
            queueTimer = timer
        }
    }

    private func handle(_ event: FetchEvent, _ number: UInt64) -> Bool {
        if case .ended = event { fetches[number] = nil }
        defer { resume() }
        return state.handle(event, number)
    }

    private func waitForName(of url: FetchURL, for number: UInt64) {
        let limit = configuration.limits.resolve
        names[number] = client.assumeIsolated { client in
            client.waitForName(of: url, within: limit) { [weak self] failure in self?.assumeIsolated { $0.named(number, failure) } }
        }
        // The name is resolved already.
        if names[number] == nil { state.named(number, nil) }
    }

    private func named(_ number: UInt64, _ failure: FetchError?) {
        names[number] = nil
        update { $0.named(number, failure) }
    }

    /// Reads an image file of a local folder on a dispatch queue, and handles it as a response of an origin.
    private func readFile(_ folder: SandboxedDirectory, _ name: String, for number: UInt64) {
        let limit = configuration.limits.bodyBytes
        Self.files.async { [weak self] in
            let file = Result { () throws(SandboxedDirectory.AccessError) in try folder.read(name, limit: limit) }
            self?.execute { $0.update { $0.read(file, number) } }
        }
    }
}

/// An effect that ``ImageFetchStateMachine`` requests, for the download with a number.
enum FetchEffect: Sendable {
    /// A timer of a download; each download has at most one of each case.
    enum Timer: CaseIterable, Hashable, Sendable {
        /// The grace period without waiters.
        case grace
        /// The delay of the response.
        case headDelay
        /// The pause before the second attempt.
        case pause
    }

    /// Reads the disk cache, then calls ``ImageFetchStateMachine/found(_:_:)`` with the result.
    case readDisk(UInt64, String, AcceptedFormats.Set)
    /// Reads a file, then calls ``ImageFetchStateMachine/read(_:_:)`` with the result.
    case readFile(UInt64, SandboxedDirectory, String)
    /// Resolves the host name, then calls ``ImageFetchStateMachine/named(_:_:)``.
    case waitForName(UInt64, FetchURL)
    /// Starts a transfer, and calls ``ImageFetchStateMachine/handle(_:_:)`` with its events.
    case fetch(UInt64, FetchRequest)
    /// Lets the transfer follow its redirect.
    case proceed(UInt64)
    case setPaused(UInt64, Bool)
    /// Starts a timer, and calls ``ImageFetchStateMachine/due(_:_:)`` if it fires.
    case arm(UInt64, Timer, Duration)
    case disarm(UInt64, Timer)
    /// Ends the download and all work on its behalf.
    case drop(UInt64)
    /// Analyzes an image that was fetched and stored, and whose metadata is unknown.
    case review(CachedImage)
    /// Calls ``ImageFetchStateMachine/expireQueue()`` at this time, unless an earlier call is scheduled.
    case watchQueue(MonotonicInstant)
}
