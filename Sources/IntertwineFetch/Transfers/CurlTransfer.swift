internal import CIntertwineCurl
internal import CIntertwineLinux
internal import Glibc
internal import IntertwineEventLoop

/// One fetch on its way: its hop, what its answer brought so far, and why it stops. On the loop of its ``CurlClient`` only.
final class CurlTransfer {
    let id: FetchID
    let request: FetchRequest
    private let policy: AddressPolicy
    let delegate: any FetchDelegate
    private let sockets: OpenSockets
    private let started = MonotonicInstant.now()

    var url: FetchURL
    var hops = 0
    /// Where a redirect leads and the delegate does not want to go yet.
    var pausedRedirect: FetchURL?
    var easy: CurlEasy?
    var ticket: Resolver.LookupHandle?
    /// Where this hop's host may be looked for.
    var addresses: [IPAddress] = []
    /// This hop's request goes out on a connection of its own: the one that curl had kept is not to be trusted.
    private(set) var wantsNewConnection = false
    /// The hop is to be begun once more.
    private(set) var isToRepeat = false
    /// How often this hop's request has gone out.
    private var requests = 0
    /// The sockets that curl has asked for since; none where it uses a connection that it has kept.
    private var opened: [Int32] = []
    /// Told on the loop when the time of the current stage is over.
    var deadline: OneShotTimer?
    private(set) var stage = FetchStage.resolving

    private var responseHead = ResponseHeadParser()
    /// Where this hop's answer points to.
    private(set) var redirect: String?
    /// The redirects that led here.
    private var passed: [FetchHead] = []
    private var bodyBytes = 0
    /// Of a body in chunks, with their framing: what lies around the content, in extensions of chunks above all, costs as much as content.
    private var wireBytes = 0
    /// What comes of the body stays with curl, which then reads no more of it.
    var isPaused = false
    /// Why a callback stopped curl; curl itself only knows that one did.
    private(set) var stopped: FetchError?
    private var sawDeniedAddress = false

    init(id: FetchID, request: FetchRequest, policy: AddressPolicy, sockets: OpenSockets, delegate: any FetchDelegate) {
        self.id = id
        self.request = request
        self.policy = policy
        self.sockets = sockets
        self.delegate = delegate
        url = request.url
    }

    /// What is left of the whole fetch's time; never negative.
    var remaining: Duration {
        max(.zero, request.limits.total - MonotonicInstant.now().since(started))
    }

    func enter(_ stage: FetchStage) {
        self.stage = stage
        delegate.fetch(id, reached: stage)
    }

    /// Forgets the last hop's answer; the bytes of its head stay counted.
    func beginHop(to url: FetchURL) {
        self.url = url
        redirect = nil
        stopped = nil
        bodyBytes = 0
        wireBytes = 0
        requests = 0
        opened = []
        wantsNewConnection = false
        responseHead.beginMessage()
    }

    /// The same hop again, from the connection on.
    func beginAgain() {
        isToRepeat = false
        opened = []
        wantsNewConnection = true
        responseHead.beginMessage()
    }

    /// Refuses a socket to an address that was never approved: the last look before the first packet.
    private func permits(_ address: IPAddress?) -> Bool {
        if let address, policy.permits(address) { return true }
        sawDeniedAddress = true
        return false
    }

    /// The connection stands, new or used again, and the request goes out when this returns true.
    private func connected(to remote: String, _ remotePort: UInt16, from localPort: UInt16) -> Bool {
        guard permits(IPAddress(remote)) else { return false }
        // curl repeats by itself what was lost on a kept connection, as often as it has such connections.
        guard requests < 2 else { return stop(.connectionLost) }
        if opened.isEmpty {
            isToRepeat = requests > 0 || hasUnreadData(remotePort, localPort)
            if isToRepeat { return false }
        } else {
            sockets.store(opened, localPort: localPort)
            opened = []
        }
        requests += 1
        enter(.headers)
        if requests == 1 {
            deadline?.arm(after: min(request.limits.head, remaining))
        } else {
            delegate.fetchRepeats(id)
        }
        return true
    }

    private func hasUnreadData(_ remotePort: UInt16, _ localPort: UInt16) -> Bool {
        guard let easy else { return true }
        return sockets.condition(of: easy.handle, localPort: localPort, remotePort: remotePort) == .hasUnreadData
    }

    private func received(headerLine line: UnsafeRawBufferPointer) -> Bool {
        switch responseHead.consume(line, limits: request.limits) {
        case .more: return true
        case .failed(let failure): return stop(failure)
        case .complete(let status, let headers):
            deadline?.disarm()
            let head = FetchHead(status: status, headers: headers, url: url, redirects: passed)
            guard head.hasSoundLength else { return stop(.protocolError) }
            easy?.limitSlowness(request.limits)
            if headers["transfer-encoding"] != nil { easy?.watchWire() }
            if (301...303).contains(status) || status == 307 || status == 308, let location = headers["location"] {
                redirect = location
                passed.append(FetchHead(status: status, headers: headers, url: url))
                return true
            }
            if let length = head.contentLength, length > request.limits.bodyBytes { return stop(.bodyTooLarge) }
            stage = .body
            guard delegate.fetch(id, received: head) else { return stop(.rejected) }
            return true
        }
    }

    private func received(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bodyBytes += bytes.count
        // A redirect's body is read for as long as that is cheaper than a new connection.
        if redirect != nil { return bodyBytes <= 16 * 1_024 }
        guard bodyBytes <= request.limits.bodyBytes else { return stop(.bodyTooLarge) }
        return delegate.fetch(id, received: bytes) || stop(.rejected)
    }

    private func crossedWire(_ bytes: Int) { wireBytes += bytes }

    /// Chunks of one byte have five around it. More than that, and some, is there to keep us busy.
    private func isWireWithinBounds() -> Bool {
        if wireBytes - 9 * bodyBytes <= request.limits.framingBytes { return true }
        return redirect == nil ? stop(.bodyTooLarge) : false
    }

    private func stop(_ failure: FetchError) -> Bool {
        stopped = failure
        return false
    }

    /// What curl's verdict on the hop means; nil where the answer is complete.
    func failure(for code: CURLcode) -> FetchError? {
        if code == CURLE_OK { return responseHead.isComplete ? nil : .protocolError }
        if let stopped { return stopped }
        if sawDeniedAddress, code == CURLE_COULDNT_CONNECT || code == CURLE_ABORTED_BY_CALLBACK { return .addressDenied }
        switch code {
        case CURLE_OPERATION_TIMEDOUT: return timeout
        case CURLE_COULDNT_CONNECT: return .connectFailed
        case CURLE_COULDNT_RESOLVE_HOST: return .resolveFailed
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM: return .tlsFailed
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR: return .connectionLost
        case CURLE_PARTIAL_FILE: return .truncated
        // What curl says to a line that is longer than it takes.
        case CURLE_OUT_OF_MEMORY: return stage == .headers && !responseHead.isComplete ? .headTooLarge : .internalError
        default: return .protocolError
        }
    }

    private var timeout: FetchError {
        if remaining <= .milliseconds(5) { return .totalTimeout }
        switch stage {
        case .resolving, .connecting: return .connectTimeout
        case .headers: return .headTimeout
        case .body: return .tooSlow
        }
    }
}

/// What curl calls while it works on a hop. The context of each is the transfer, which outlives its handle: ``CurlClient`` keeps
/// it in its table until the handle is gone.
extension CurlTransfer {
    func attach(_ easy: CurlEasy) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        easy.check(intertwine_easy_pointer(easy.handle, CURLOPT_PRIVATE, context))
        easy.check(intertwine_easy_pointer(easy.handle, CURLOPT_HEADERDATA, context))
        easy.check(intertwine_easy_pointer(easy.handle, CURLOPT_WRITEDATA, context))
        easy.check(intertwine_easy_pointer(easy.handle, CURLOPT_OPENSOCKETDATA, context))
        easy.check(intertwine_easy_pointer(easy.handle, CURLOPT_PREREQDATA, context))
        easy.check(intertwine_easy_pointer(easy.handle, CURLOPT_DEBUGDATA, context))
        easy.check(intertwine_easy_pointer(easy.handle, CURLOPT_XFERINFODATA, context))
        easy.check(
            intertwine_easy_debug(easy.handle) { _, type, _, count, context in
                if type == CURLINFO_DATA_IN { CurlTransfer.from(context)?.crossedWire(count) }
                return 0
            })
        easy.check(
            intertwine_easy_progress(easy.handle) { context, _, _, _, _ in
                CurlTransfer.from(context)?.isWireWithinBounds() == false ? 1 : 0
            })
        easy.check(
            intertwine_easy_data(easy.handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
                CurlTransfer.take(bytes, size, count, context) { $0.received(headerLine: $1) }
            })
        easy.check(
            intertwine_easy_data(easy.handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
                if CurlTransfer.from(context)?.isPaused == true { return Int(CURL_WRITEFUNC_PAUSE) }
                return CurlTransfer.take(bytes, size, count, context) { $0.received($1) }
            })
        easy.check(
            intertwine_easy_open(easy.handle) { context, _, address in
                guard let transfer = CurlTransfer.from(context), let address else { return CURL_SOCKET_BAD }
                return transfer.openSocket(address)
            })
        easy.check(
            intertwine_easy_prereq(easy.handle) { context, remote, _, remotePort, localPort in
                guard let transfer = CurlTransfer.from(context), let remote,
                    transfer.connected(to: String(cString: remote), UInt16(clamping: remotePort), from: UInt16(clamping: localPort))
                else { return CURL_PREREQFUNC_ABORT }
                return CURL_PREREQFUNC_OK
            })
    }

    static func from(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
        context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Anything but the full count makes curl give the hop up.
    private static func take(
        _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?,
        _ body: (CurlTransfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        let (length, overflow) = size.multipliedReportingOverflow(by: count)
        guard !overflow, let transfer = from(context) else { return -1 }
        return body(transfer, UnsafeRawBufferPointer(start: bytes, count: length)) ? length : -1
    }

    private func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        let wanted = address.pointee
        let parsed = withUnsafePointer(to: &address.pointee.addr) { IPAddress($0, length: Int(wanted.addrlen)) }
        guard permits(parsed) else { return CURL_SOCKET_BAD }
        let descriptor = clinux_socket(wanted.family, wanted.socktype, wanted.`protocol`)
        guard descriptor >= 0 else { return CURL_SOCKET_BAD }
        // The kernel doubles the number it is given.
        var window = Int32(clamping: request.limits.receiveWindow / 2)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &window, socklen_t(MemoryLayout<Int32>.size))
        opened.append(descriptor)
        return descriptor
    }
}
