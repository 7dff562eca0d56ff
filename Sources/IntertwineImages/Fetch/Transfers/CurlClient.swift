internal import CIntertwineCurl
internal import HTTPTypes
package import IntertwineHTTPServer
internal import Synchronization

/// A handle of a name resolution that was started before its fetch.
struct DNSPrefetch: Hashable, Sendable {
    fileprivate let number: UInt64
}

/// An HTTP client that runs all fetches on one loop: libcurl's multi interface, driven by the loop's sockets and a precise timer.
package actor CurlClient: EventLoopActor {
    package nonisolated let loop: EventLoop
    /// The policy that every URL, redirect and address must satisfy.
    package nonisolated let policy: AddressPolicy
    private let resolver: Resolver
    private let certificates: String?
    private let userAgent: String?

    private var multi: CurlMulti?
    private var timer: OneShotTimer?
    /// The registrations of libcurl's sockets. A socket that the kernel refused to watch has none; its transfer times out.
    var watches: [Int32: Registration?] = [:]
    private var transfers: [FetchID: CurlTransfer] = [:]
    private let sockets = OpenSockets()
    private var isInCurl = false
    private var isShutDown = false
    private var names: [DNSPrefetch: (ticket: Resolver.LookupHandle?, timer: OneShotTimer)] = [:]
    private nonisolated let lastNumber = Atomic<UInt64>(0)

    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// `policy`: The policy that every URL, redirect and address must satisfy.
    package init(
        on loop: EventLoop, policy: AddressPolicy, resolver: Resolver = Resolver(), certificates: String? = nil, userAgent: String? = nil
    ) {
        self.loop = loop
        self.policy = policy
        self.resolver = resolver
        self.certificates = certificates
        self.userAgent = userAgent
    }

    package var count: Int { transfers.count }

    /// The handler is called on the loop, never during this call, and is released after the end.
    package nonisolated func start(_ request: FetchRequest, onEvent: @escaping FetchEvent.Handler) -> FetchID {
        let id = FetchID(number: lastNumber.add(1, ordering: .relaxed).newValue)
        execute { $0.begin(id, request, onEvent) }
        return id
    }

    package nonisolated func cancel(_ id: FetchID) {
        execute { $0.end(id, .cancelled) }
    }

    nonisolated func proceed(_ id: FetchID) {
        execute { $0.resume(id) }
    }

    /// Waits until the addresses of a URL's host are known, so that a later fetch does not occupy a limited slot meanwhile.
    func waitForName(
        of url: FetchURL, within limit: Duration, _ done: @escaping @Sendable (FetchError?) -> Void
    ) -> DNSPrefetch? {
        // A URL that the policy refuses is refused by the fetch, and its name is not sent to a name server.
        guard !isShutDown, url.address == nil, (try? policy.check(url)) != nil, !resolver.knows(url.host) else { return nil }
        let wait = DNSPrefetch(number: lastNumber.add(1, ordering: .relaxed).newValue)
        let timer = timer { $0.nameTimedOut(wait, done) }
        timer.arm(after: limit)
        names[wait] = (nil, timer)
        names[wait]?.ticket = resolver.resolve(url.host) { [weak self] resolution in
            let failure: FetchError? = if case .failure(let failure) = resolution { failure } else { nil }
            self?.execute { if $0.forget(wait) != nil { done(failure) } }
        }
        return wait
    }

    func cancelPrefetch(_ wait: DNSPrefetch) {
        if let ticket = forget(wait)?.ticket { resolver.cancel(ticket) }
    }

    private func forget(_ wait: DNSPrefetch) -> (ticket: Resolver.LookupHandle?, timer: OneShotTimer)? {
        let entry = names.removeValue(forKey: wait)
        entry?.timer.disarm()
        return entry
    }

    private func nameTimedOut(_ wait: DNSPrefetch, _ done: (FetchError?) -> Void) {
        guard let entry = forget(wait) else { return }
        // A lookup that never began is not a failure of the name.
        done(entry.ticket.map { resolver.cancel($0) } ?? false ? .resolverBusy : .resolveTimeout)
    }

    /// Resuming takes effect after libcurl has returned, if it is calling a handler now.
    func setPaused(_ isPaused: Bool, _ id: FetchID) {
        guard let transfer = transfers[id], transfer.stage == .body else { return }
        transfer.isPaused = isPaused
        reportPause(of: id)
    }

    private func reportPause(of id: FetchID) {
        // libcurl reads all available bytes, a megabyte and more, before it returns.
        if isInCurl { return execute { $0.reportPause(of: id) } }
        guard let transfer = transfers[id], transfer.stage == .body, let easy = transfer.easy else { return }
        isInCurl = true
        _ = curl_easy_pause(easy.handle, transfer.isPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
        isInCurl = false
        collect()
    }

    package func shutDown() {
        isShutDown = true
        for id in Array(transfers.keys) { end(id, .shuttingDown) }
        for wait in Array(names.keys) { cancelPrefetch(wait) }
        multi = nil
        timer?.disarm()
        timer = nil
        for registration in watches.values.compactMap({ $0 }) { loop.deregister(registration) }
        watches = [:]
    }

    private func begin(_ id: FetchID, _ request: FetchRequest, _ onEvent: @escaping FetchEvent.Handler) {
        guard !isShutDown else { return _ = onEvent(.ended(.shuttingDown)) }
        let transfer = CurlTransfer(id: id, request: request, policy: policy, sockets: sockets, onEvent: onEvent)
        transfer.deadline = timer { $0.stageTimedOut(id) }
        transfers[id] = transfer
        openHop(transfer, to: request.url)
    }

    private func stageTimedOut(_ id: FetchID) {
        guard let transfer = transfers[id] else { return }
        let isTotal = transfer.remaining <= .zero
        guard transfer.stage == .resolving, let ticket = transfer.ticket else { return end(id, isTotal ? .totalTimeout : .headTimeout) }
        transfer.ticket = nil
        // A lookup that never began is not a failure of the name.
        if resolver.cancel(ticket) { return end(id, .resolverBusy) }
        end(id, isTotal ? .totalTimeout : .resolveTimeout)
    }

    private func end(_ id: FetchID, _ failure: FetchError?) {
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        transfer.deadline?.disarm()
        transfer.deadline = nil
        if let ticket = transfer.ticket { resolver.cancel(ticket) }
        closeHop(transfer)
        _ = transfer.onEvent(.ended(failure))
    }

    private func closeHop(_ transfer: CurlTransfer) {
        guard let easy = transfer.easy else { return }
        if let multi { curl_multi_remove_handle(multi.handle, easy.handle) }
        transfer.easy = nil
    }
}

extension CurlClient {
    private func openHop(_ transfer: CurlTransfer, to url: FetchURL) {
        do throws(FetchError) {
            try check(url, for: transfer)
        } catch {
            return end(transfer.id, error)
        }
        transfer.beginHop(to: url)
        if let address = url.address {
            transfer.addresses = [address]
            return connect(transfer)
        }
        transfer.enter(.resolving)
        transfer.deadline?.arm(after: min(transfer.request.limits.resolve, transfer.remaining))
        let id = transfer.id
        let hop = transfer.hops
        transfer.ticket = resolver.resolve(url.host) { [weak self] resolution in
            self?.execute { $0.resolved(id, hop, resolution) }
        }
    }

    private func check(_ url: FetchURL, for transfer: CurlTransfer) throws(FetchError) {
        do {
            try policy.check(url)
        } catch {
            _ = transfer.onEvent(.refused(url, addresses: url.address.map { [$0] } ?? []))
            throw error
        }
    }

    private func resume(_ id: FetchID) {
        guard let transfer = transfers[id], let next = transfer.pausedRedirect else { return }
        transfer.pausedRedirect = nil
        openHop(transfer, to: next)
    }

    private func resolved(_ id: FetchID, _ hop: Int, _ resolution: Resolver.Resolution) {
        guard let transfer = transfers[id], transfer.hops == hop, transfer.stage == .resolving else { return }
        transfer.ticket = nil
        transfer.deadline?.disarm()
        switch resolution {
        case .failure(let failure): end(id, failure)
        case .success(let addresses):
            let permitted = addresses.filter { policy.permits($0) }
            if permitted.isEmpty {
                _ = transfer.onEvent(.refused(transfer.url, addresses: addresses))
                return end(id, .addressDenied)
            }
            transfer.addresses = permitted
            connect(transfer)
        }
    }

    private func connect(_ transfer: CurlTransfer) {
        transfer.enter(.connecting)
        guard transfer.remaining > .zero else { return end(transfer.id, .totalTimeout) }
        do throws(FetchError) {
            let multi = try readyMulti()
            let easy = try CurlEasy()
            transfer.attach(easy)
            easy.limit(transfer.request.limits, total: transfer.remaining)
            if transfer.wantsNewConnection { easy.set(CURLOPT_FRESH_CONNECT, 1) }
            var fields = transfer.request.fields(for: transfer.url)
            if fields[.userAgent] == nil { fields[.userAgent] = userAgent }
            try easy.prepare(transfer.url, addresses: transfer.addresses, headers: fields, certificates: certificates)
            guard curl_multi_add_handle(multi.handle, easy.handle) == CURLM_OK else { throw .internalError }
            transfer.easy = easy
        } catch {
            end(transfer.id, error)
        }
    }

    private func collect() {
        guard let multi else { return }
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi.handle, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            var context: UnsafeMutableRawPointer?
            _ = intertwine_info_pointer(easy, CURLINFO_PRIVATE, &context)
            if let transfer = CurlTransfer.from(context) {
                finishHop(transfer, intertwine_message_result(message))
            }
        }
    }

    private func finishHop(_ transfer: CurlTransfer, _ code: CURLcode) {
        if transfer.isToRepeat, code == CURLE_ABORTED_BY_CALLBACK {
            closeHop(transfer)
            transfer.beginAgain()
            return connect(transfer)
        }
        guard let location = transfer.redirect, transfer.stopped == nil else {
            return end(transfer.id, transfer.failure(for: code))
        }
        // An error in the redirect's body is ignored, because its head was complete.
        closeHop(transfer)
        guard transfer.hops < transfer.request.limits.redirects else { return end(transfer.id, .tooManyRedirects) }
        transfer.hops += 1
        do throws(FetchError) {
            let next = try transfer.url.resolving(location)
            if transfer.url.isSecure, !next.isSecure { throw .downgradeDenied }
            try check(next, for: transfer)
            // Another origin chooses the URLs that follow, also those of the first origin (Fetch, HTTP-redirect fetch).
            if !next.hasSameOrigin(as: transfer.url) { transfer.request.credentials = HTTPFields() }
            guard transfer.onEvent(.redirected(next)) else {
                transfer.pausedRedirect = next
                return
            }
            openHop(transfer, to: next)
        } catch {
            end(transfer.id, error)
        }
    }
}

extension CurlClient {
    private func readyMulti() throws(FetchError) -> CurlMulti {
        if let multi { return multi }
        timer = timer { $0.act(CURL_SOCKET_TIMEOUT, 0) }
        // The pointer is unretained: this actor owns the handle, which calls nothing after it is closed.
        let created = try CurlMulti(
            context: Unmanaged.passUnretained(self).toOpaque(),
            socket: { _, descriptor, what, context, _ in
                CurlClient.from(context)?.assumeIsolated { $0.watch(descriptor, what) }
                return 0
            },
            timer: { _, milliseconds, context in
                CurlClient.from(context)?.assumeIsolated { $0.arm(milliseconds) }
                return 0
            })
        multi = created
        return created
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> CurlClient? {
        context.map { Unmanaged<CurlClient>.fromOpaque($0).takeUnretainedValue() }
    }

    private func socketReady(_ descriptor: Int32, _ events: ReadyEvents) {
        var mask: Int32 = 0
        if events.contains(.readable) { mask |= CURL_CSELECT_IN }
        if events.contains(.writable) { mask |= CURL_CSELECT_OUT }
        if events.contains(.failed) || events.contains(.hungUp) { mask |= CURL_CSELECT_ERR }
        act(descriptor, mask)
    }

    private func act(_ descriptor: Int32, _ mask: Int32) {
        guard let multi else { return }
        var running: Int32 = 0
        isInCurl = true
        let result = curl_multi_socket_action(multi.handle, descriptor, mask, &running)
        isInCurl = false
        if result != CURLM_OK {
            // After this error libcurl guarantees none of its transfers.
            for id in Array(transfers.keys) {
                end(id, .internalError)
            }
            return
        }
        collect()
    }

    /// libcurl must not be called from here: zero means "soon", not "now".
    private func arm(_ milliseconds: Int) {
        if milliseconds < 0 {
            timer?.disarm()
        } else {
            timer?.arm(after: .milliseconds(milliseconds))
        }
    }

    private func watch(_ descriptor: Int32, _ what: Int32) {
        let events: ReadyEvents
        switch what {
        case CURL_POLL_IN: events = .readable
        case CURL_POLL_OUT: events = .writable
        case CURL_POLL_INOUT: events = [.readable, .writable]
        default:
            if let registration = watches.removeValue(forKey: descriptor) ?? nil { loop.deregister(registration) }
            return
        }
        if let registration = watches[descriptor] ?? nil {
            try? loop.update(registration, for: events)
        } else {
            watches[descriptor] = .some(try? self.watch(descriptor, for: events) { $0.socketReady(descriptor, $1) })
        }
    }
}
