internal import CIntertwineCurl
internal import CIntertwineLinux
internal import Glibc
internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

final class CurlTransfer {
    let id: FetchID
    var request: FetchRequest
    private let policy: AddressPolicy
    let onEvent: FetchEvent.Handler
    private let sockets: OpenSockets
    private let started = MonotonicInstant.now()

    var url: FetchURL
    var hops = 0
    var pausedRedirect: FetchURL?
    var easy: CurlEasy?
    var ticket: Resolver.LookupHandle?
    var addresses: [IPAddress] = []
    /// True if this hop's request uses a new connection, because the reused one is not trustworthy.
    private(set) var wantsNewConnection = false
    /// True if the hop must be started again.
    private(set) var isToRepeat = false
    private var requests = 0
    /// The sockets that libcurl has opened since; empty if it reuses a connection.
    private var opened: [Int32] = []
    var deadline: OneShotTimer?
    private(set) var stage = FetchStage.resolving

    private var responseHead = ResponseHeadParser()
    private(set) var redirect: String?
    private var passed: [FetchHead] = []
    private var bodyBytes = 0
    private var receivedBytes = 0
    private var codings: [(inflater: GzipInflater, hasBegun: Bool)] = []
    private var isDeflated = false
    private var wireBytes = 0
    var isPaused = false
    /// The reason why a callback stopped libcurl, which itself reports only that a callback did.
    private(set) var stopped: FetchError?
    private var sawDeniedAddress = false

    init(id: FetchID, request: FetchRequest, policy: AddressPolicy, sockets: OpenSockets, onEvent: @escaping FetchEvent.Handler) {
        self.id = id
        self.request = request
        self.policy = policy
        self.sockets = sockets
        self.onEvent = onEvent
        url = request.url
    }

    /// The remaining time of the whole fetch; never negative.
    var remaining: Duration {
        max(.zero, request.limits.total - MonotonicInstant.now().since(started))
    }

    func enter(_ stage: FetchStage) {
        self.stage = stage
        _ = onEvent(.reached(stage))
    }

    func beginHop(to url: FetchURL) {
        self.url = url
        redirect = nil
        stopped = nil
        (bodyBytes, receivedBytes, codings) = (0, 0, [])
        wireBytes = 0
        requests = 0
        opened = []
        wantsNewConnection = false
        responseHead.beginMessage()
    }

    func beginAgain() {
        isToRepeat = false
        opened = []
        wantsNewConnection = true
        responseHead.beginMessage()
    }

    private func permits(_ address: IPAddress?) -> Bool {
        if let address, policy.permits(address) { return true }
        sawDeniedAddress = true
        return false
    }

    private func connected(to remote: String, _ remotePort: UInt16, from localPort: UInt16) -> Bool {
        guard permits(IPAddress(remote)) else { return false }
        // libcurl repeats requests that were lost on a reused connection, as often as it has such connections.
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
            _ = onEvent(.repeated)
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
            isDeflated = headers[.contentEncoding]?.lowercased().contains("deflate") ?? false
            guard head.hasSoundLength else { return stop(.protocolError) }
            easy?.limitSlowness(request.limits)
            if headers[.transferEncoding] != nil { easy?.watchWire() }
            if (301...303).contains(status) || status == 307 || status == 308, let location = head.location {
                redirect = location
                passed.append(FetchHead(status: status, headers: headers, url: url))
                return true
            }
            if (301...303).contains(status) || status == 307 || status == 308, headers[.location] != nil { return stop(.protocolError) }
            if let length = head.contentLength, length > request.limits.bodyBytes { return stop(.bodyTooLarge) }
            stage = .body
            guard onEvent(.head(head)) else { return stop(.rejected) }
            return true
        }
    }

    private func received(_ bytes: UnsafeRawBufferPointer) -> Bool {
        receivedBytes += bytes.count
        // The body of a redirect is read up to the size at which a new connection is cheaper.
        if redirect != nil { return receivedBytes <= 16 * 1_024 }
        if receivedBytes == bytes.count { recognizeCoding(bytes.first) }
        return deliver(bytes, from: 0)
    }

    private func recognizeCoding(_ first: UInt8?) {
        guard let first, codings.count < 3 else { return }
        if first == GzipInflater.magic[0] {
            codings.append((GzipInflater(uncheckedTrailer: 8), false))
        } else if isDeflated, !Self.plain.contains(first) {
            isDeflated = false
            let isRaw = first & 0x0F != 8
            codings.append((GzipInflater(isRaw: isRaw, uncheckedTrailer: isRaw ? 0 : 4), false))
        }
    }

    /// The first bytes of JSON and of images, with none of which compressed JSON begins. Some origins declare a coding that they do not apply.
    private static let plain = Array("[{GR \t\n".utf8) + [0, 0x89, 0xEF, 0xFF]

    private func deliver(_ bytes: UnsafeRawBufferPointer, from level: Int) -> Bool {
        guard level < codings.count else {
            bodyBytes += bytes.count
            guard bodyBytes <= request.limits.bodyBytes else { return stop(.bodyTooLarge) }
            return onEvent(.bytes(bytes)) || stop(.rejected)
        }
        do {
            try codings[level].inflater.inflate(bytes) { piece in
                if !codings[level].hasBegun {
                    codings[level].hasBegun = true
                    recognizeCoding(piece.first)
                }
                guard piece.withUnsafeBytes({ deliver($0, from: level + 1) }) else { throw FetchError.rejected }
            }
            return true
        } catch {
            return error is GzipInflater.Failure ? stop(.protocolError) : false
        }
    }

    private func crossedWire(_ bytes: Int) { wireBytes += bytes }

    private func isWireWithinBounds() -> Bool {
        if wireBytes - 9 * receivedBytes <= request.limits.framingBytes { return true }
        return redirect == nil ? stop(.bodyTooLarge) : false
    }

    private func stop(_ failure: FetchError) -> Bool {
        stopped = failure
        return false
    }

    func failure(for code: CURLcode) -> FetchError? {
        if code == CURLE_OK {
            guard codings.allSatisfy(\.inflater.isComplete) else { return .truncated }
            return responseHead.isComplete ? nil : .protocolError
        }
        if let stopped { return stopped }
        if sawDeniedAddress, code == CURLE_COULDNT_CONNECT || code == CURLE_ABORTED_BY_CALLBACK { return .addressDenied }
        switch code {
        case CURLE_OPERATION_TIMEDOUT: return timeout
        case CURLE_COULDNT_CONNECT: return .connectFailed
        case CURLE_COULDNT_RESOLVE_HOST: return .resolveFailed
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM: return .tlsFailed
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR: return .connectionLost
        case CURLE_PARTIAL_FILE: return .truncated
        // libcurl reports this code for a line that exceeds its maximum length.
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
                CurlTransfer.receive(bytes, size, count, context) { $0.received(headerLine: $1) }
            })
        easy.check(
            intertwine_easy_data(easy.handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
                if CurlTransfer.from(context)?.isPaused == true { return Int(CURL_WRITEFUNC_PAUSE) }
                return CurlTransfer.receive(bytes, size, count, context) { $0.received($1) }
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

    /// Any result but the full count makes libcurl abort the hop.
    private static func receive(
        _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?,
        _ body: (CurlTransfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        let (length, overflow) = size.multipliedReportingOverflow(by: count)
        guard !overflow, let transfer = from(context) else { return -1 }
        return body(transfer, UnsafeRawBufferPointer(start: bytes, count: length)) ? length : -1
    }

    private func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        let allowed = address.pointee
        let parsed = withUnsafePointer(to: &address.pointee.addr) { IPAddress($0, length: Int(allowed.addrlen)) }
        guard permits(parsed) else { return CURL_SOCKET_BAD }
        let descriptor = clinux_socket(allowed.family, allowed.socktype, allowed.`protocol`)
        guard descriptor >= 0 else { return CURL_SOCKET_BAD }
        // The kernel doubles this number.
        var window = Int32(clamping: request.limits.receiveWindow / 2)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &window, socklen_t(MemoryLayout<Int32>.size))
        opened.append(descriptor)
        return descriptor
    }
}
