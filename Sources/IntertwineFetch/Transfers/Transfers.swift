internal import CIntertwineCurl
public import IntertwineEventLoop
internal import Synchronization

/// Somebody waits for a host's addresses, ahead of a fetch.
public struct NameWait: Hashable, Sendable {
    fileprivate let number: UInt64
}

/// Fetches on one loop: curl's multi interface, driven by the loop's sockets and a precise timer.
///
/// Call ``shutDown()`` before letting go of it.
public actor Transfers {
    public nonisolated let loop: EventLoop
    public nonisolated let policy: AddressPolicy
    let resolver: Resolver
    /// PEM file of the authorities trusted for https; the system's where nil.
    let certificates: String?

    var multi: CurlMulti?
    var timer: OneShotTimer?
    var watches: [Int32: SocketWatch] = [:]
    var transfers: [FetchID: Transfer] = [:]
    private let sockets = OpenSockets()
    /// One of curl's calls is on the stack, or may be.
    var isInCurl = false
    private var isShutDown = false
    private var names: [NameWait: (ticket: Resolver.Ticket?, timer: OneShotTimer)] = [:]
    private nonisolated let lastNumber = Atomic<UInt64>(0)

    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    public init(on loop: EventLoop, policy: AddressPolicy, resolver: Resolver = Resolver(), certificates: String? = nil) {
        self.loop = loop
        self.policy = policy
        self.resolver = resolver
        self.certificates = certificates
    }

    /// Fetches under way.
    public var count: Int { transfers.count }

    /// Sockets that are watched for fetches under way.
    public var openSockets: Int { watches.count }

    /// Starts a fetch. From any thread; the delegate hears of it on the loop, never during this call.
    public nonisolated func start(_ request: FetchRequest, delegate: any FetchDelegate) -> FetchID {
        let id = FetchID(number: lastNumber.add(1, ordering: .relaxed).newValue)
        loop.execute { self.assumeIsolated { $0.begin(id, request, delegate) } }
        return id
    }

    /// Gives a fetch up, wherever it stands; it ends with `cancelled`. From any thread; nothing happens where it has ended.
    public nonisolated func cancel(_ id: FetchID) {
        loop.execute { self.assumeIsolated { $0.end(id, .cancelled) } }
    }

    /// Lets a fetch go on that its delegate holds at a redirect. From any thread.
    public nonisolated func proceed(_ id: FetchID) {
        loop.execute { self.assumeIsolated { $0.goOn(id) } }
    }

    /// Waits until the addresses of a URL's host are known, so that a fetch does not have to: it may take something that others need.
    ///
    /// - Parameter done: called on the loop, not during this call, with `resolveTimeout` or another failure where they cannot be had.
    /// - Returns: nil where a fetch would not wait; nothing is called then.
    public func waitForName(
        of url: FetchURL, within limit: Duration, _ done: @escaping @Sendable (FetchFailure?) -> Void
    ) -> NameWait? {
        // What the policy refuses is refused by the fetch, and no name server hears of it.
        guard !isShutDown, url.address == nil, (try? policy.check(url)) != nil, !resolver.knows(url.host) else { return nil }
        let wait = NameWait(number: lastNumber.add(1, ordering: .relaxed).newValue)
        let timer = OneShotTimer(on: loop) { [weak self] in
            self?.assumeIsolated { $0.nameTimedOut(wait, done) }
        }
        timer.arm(after: limit)
        names[wait] = (nil, timer)
        names[wait]?.ticket = resolver.resolve(url.host) { [weak self] answer in
            guard let transfers = self else { return }
            let failure: FetchFailure? = if case .failure(let failure) = answer { failure } else { nil }
            transfers.loop.execute {
                transfers.assumeIsolated { if $0.forget(wait) != nil { done(failure) } }
            }
        }
        return wait
    }

    /// Waits no longer; nothing is called.
    public func leave(_ wait: NameWait) {
        if let ticket = forget(wait)?.ticket { resolver.leave(ticket) }
    }

    private func forget(_ wait: NameWait) -> (ticket: Resolver.Ticket?, timer: OneShotTimer)? {
        let entry = names.removeValue(forKey: wait)
        entry?.timer.disarm()
        return entry
    }

    private func nameTimedOut(_ wait: NameWait, _ done: (FetchFailure?) -> Void) {
        guard let entry = forget(wait) else { return }
        // A name that never had its turn has done nothing wrong.
        done(entry.ticket.map { resolver.leave($0) } ?? false ? .resolverBusy : .resolveTimeout)
    }

    /// Stops reading a fetch's body, or goes on. At once, except when called by a delegate that curl is just calling.
    public func setPaused(_ isPaused: Bool, _ id: FetchID) {
        if isInCurl {
            loop.execute { self.assumeIsolated { $0.setPaused(isPaused, id) } }
            return
        }
        guard let transfer = transfers[id], transfer.stage == .body, let easy = transfer.easy else { return }
        isInCurl = true
        _ = curl_easy_pause(easy.handle, isPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
        isInCurl = false
        collect()
    }

    /// Ends all fetches with `shuttingDown` and refuses new ones.
    public func shutDown() {
        isShutDown = true
        for id in Array(transfers.keys) {
            end(id, .shuttingDown)
        }
        for wait in Array(names.keys) { leave(wait) }
        multi = nil
        timer?.disarm()
        timer = nil
        for watch in watches.values {
            if let registration = watch.registration { loop.deregister(registration) }
        }
        watches = [:]
    }

    private func begin(_ id: FetchID, _ request: FetchRequest, _ delegate: any FetchDelegate) {
        guard !isShutDown else { return delegate.fetchEnded(id, .shuttingDown) }
        let transfer = Transfer(id: id, request: request, policy: policy, sockets: sockets, delegate: delegate)
        transfer.deadline = OneShotTimer(on: loop) { [weak self] in
            self?.assumeIsolated { $0.stageTimedOut(id) }
        }
        transfers[id] = transfer
        openHop(transfer, to: request.url)
    }

    private func stageTimedOut(_ id: FetchID) {
        guard let transfer = transfers[id] else { return }
        let isTotal = transfer.remaining <= .zero
        guard transfer.stage == .resolving, let ticket = transfer.ticket else { return end(id, isTotal ? .totalTimeout : .headTimeout) }
        transfer.ticket = nil
        // A name that never had its turn has done nothing wrong.
        if resolver.leave(ticket) { return end(id, .resolverBusy) }
        end(id, isTotal ? .totalTimeout : .resolveTimeout)
    }

    /// The one way out of the table.
    func end(_ id: FetchID, _ failure: FetchFailure?) {
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        transfer.deadline?.disarm()
        transfer.deadline = nil
        if let ticket = transfer.ticket { resolver.leave(ticket) }
        closeHop(transfer)
        transfer.delegate.fetchEnded(id, failure)
    }

    func closeHop(_ transfer: Transfer) {
        guard let easy = transfer.easy else { return }
        if let multi { curl_multi_remove_handle(multi.handle, easy.handle) }
        transfer.easy = nil
    }
}
