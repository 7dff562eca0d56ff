internal import Dispatch
internal import FoundationEssentials
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

/// An actor that runs all downloads on the event loop of their transfers. Events of transfers, new waiters and cancellations are therefore
/// serialized.
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
    private let analyzer: ImageAnalyzer?
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

    private func resume() {
        while let step = state.nextStep() { perform(step) }
    }

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

    private func readFile(_ folder: SandboxedDirectory, _ name: String, for number: UInt64) {
        let limit = configuration.limits.bodyBytes
        Self.files.async { [weak self] in
            let file = Result { () throws(SandboxedDirectory.AccessError) in try folder.read(name, limit: limit) }
            self?.execute { $0.update { $0.read(file, number) } }
        }
    }
}

enum FetchEffect: Sendable {
    enum Timer: CaseIterable, Hashable, Sendable {
        case grace
        case headDelay
        case pause
    }

    case readDisk(UInt64, String, AcceptedFormats.Set)
    case readFile(UInt64, SandboxedDirectory, String)
    case waitForName(UInt64, FetchURL)
    case fetch(UInt64, FetchRequest)
    case proceed(UInt64)
    case setPaused(UInt64, Bool)
    case arm(UInt64, Timer, Duration)
    case disarm(UInt64, Timer)
    case drop(UInt64)
    case review(CachedImage)
    /// Calls ``ImageFetchStateMachine/expireQueue()`` at this time, unless an earlier call is scheduled.
    case watchQueue(MonotonicInstant)
}
