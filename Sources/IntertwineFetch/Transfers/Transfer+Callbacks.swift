internal import CIntertwineCurl
internal import CIntertwineLinux
internal import Glibc

/// What curl calls while it works on a hop. The context of each is the transfer, which outlives its handle: ``Transfers`` keeps
/// it in its table until the handle is gone.
extension Transfer {
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
                if type == CURLINFO_DATA_IN { Transfer.from(context)?.crossedWire(count) }
                return 0
            })
        easy.check(
            intertwine_easy_progress(easy.handle) { context, _, _, _, _ in
                Transfer.from(context)?.isWireWithinBounds() == false ? 1 : 0
            })
        easy.check(
            intertwine_easy_data(easy.handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
                Transfer.take(bytes, size, count, context) { $0.received(headerLine: $1) }
            })
        easy.check(
            intertwine_easy_data(easy.handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
                Transfer.take(bytes, size, count, context) { $0.received($1) }
            })
        easy.check(
            intertwine_easy_open(easy.handle) { context, _, address in
                guard let transfer = Transfer.from(context), let address else { return CURL_SOCKET_BAD }
                return transfer.openSocket(address)
            })
        easy.check(
            intertwine_easy_prereq(easy.handle) { context, remote, _, remotePort, localPort in
                guard let transfer = Transfer.from(context), let remote,
                    transfer.connected(to: String(cString: remote), UInt16(clamping: remotePort), from: UInt16(clamping: localPort))
                else { return CURL_PREREQFUNC_ABORT }
                return CURL_PREREQFUNC_OK
            })
    }

    static func from(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        context.map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Anything but the full count makes curl give the hop up.
    private static func take(
        _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?,
        _ body: (Transfer, UnsafeRawBufferPointer) -> Bool
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
