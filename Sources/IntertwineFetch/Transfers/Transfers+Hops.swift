internal import CIntertwineCurl
internal import IntertwineEventLoop

extension Transfers {
    /// The choke point: the first request of a fetch and the target of each redirect come here, and nothing else opens anything.
    func openHop(_ transfer: Transfer, to url: FetchURL) {
        do throws(FetchFailure) {
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
        transfer.ticket = resolver.resolve(url.host) { [weak self] answer in
            guard let transfers = self else { return }
            transfers.loop.execute { transfers.assumeIsolated { $0.resolved(id, hop, answer) } }
        }
    }

    private func check(_ url: FetchURL, for transfer: Transfer) throws(FetchFailure) {
        do {
            try policy.check(url)
        } catch {
            transfer.delegate.fetch(transfer.id, refused: url, at: url.address.map { [$0] } ?? [])
            throw error
        }
    }

    /// Goes on where the delegate held a fetch.
    func goOn(_ id: FetchID) {
        guard let transfer = transfers[id], let next = transfer.heldAt else { return }
        transfer.heldAt = nil
        openHop(transfer, to: next)
    }

    private func resolved(_ id: FetchID, _ hop: Int, _ answer: Resolver.Answer) {
        guard let transfer = transfers[id], transfer.hops == hop, transfer.stage == .resolving else { return }
        transfer.ticket = nil
        transfer.deadline?.disarm()
        switch answer {
        case .failure(let failure): end(id, failure)
        case .success(let addresses):
            let permitted = addresses.filter { policy.permits($0) }
            if permitted.isEmpty {
                transfer.delegate.fetch(id, refused: transfer.url, at: addresses)
                return end(id, .addressDenied)
            }
            transfer.addresses = permitted
            connect(transfer)
        }
    }

    private func connect(_ transfer: Transfer) {
        transfer.enter(.connecting)
        guard transfer.remaining > .zero else { return end(transfer.id, .totalTimeout) }
        do throws(FetchFailure) {
            let multi = try readyMulti()
            let easy = try CurlEasy()
            transfer.attach(easy)
            easy.limit(transfer.request.limits, total: transfer.remaining)
            if transfer.request.acceptsCompression { easy.set(CURLOPT_ACCEPT_ENCODING, "gzip") }
            if transfer.wantsNewConnection { easy.set(CURLOPT_FRESH_CONNECT, 1) }
            try easy.prepare(
                transfer.url, addresses: transfer.addresses, headers: transfer.request.fields(for: transfer.url), certificates: certificates
            )
            guard curl_multi_add_handle(multi.handle, easy.handle) == CURLM_OK else { throw .internalError }
            transfer.easy = easy
        } catch {
            end(transfer.id, error)
        }
    }

    /// What curl has finished.
    func collect() {
        guard let multi else { return }
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi.handle, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            var context: UnsafeMutableRawPointer?
            _ = intertwine_info_pointer(easy, CURLINFO_PRIVATE, &context)
            if let transfer = Transfer.from(context) {
                finishHop(transfer, intertwine_message_result(message))
            }
        }
    }

    private func finishHop(_ transfer: Transfer, _ code: CURLcode) {
        if transfer.isToRepeat, code == CURLE_ABORTED_BY_CALLBACK {
            closeHop(transfer)
            transfer.beginAgain()
            return connect(transfer)
        }
        guard let location = transfer.redirect, transfer.stopped == nil else {
            return end(transfer.id, transfer.failure(for: code))
        }
        // How the redirect's body ended does not matter: its head was complete.
        closeHop(transfer)
        guard transfer.hops < transfer.request.limits.redirects else { return end(transfer.id, .tooManyRedirects) }
        transfer.hops += 1
        do throws(FetchFailure) {
            let next = try transfer.url.resolving(location)
            if transfer.url.isSecure, !next.isSecure { throw .downgradeDenied }
            try check(next, for: transfer)
            guard transfer.delegate.fetch(transfer.id, redirectedTo: next) else {
                transfer.heldAt = next
                return
            }
            openHop(transfer, to: next)
        } catch {
            end(transfer.id, error)
        }
    }
}
