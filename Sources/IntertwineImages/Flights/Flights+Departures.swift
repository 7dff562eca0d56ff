internal import FoundationEssentials
internal import IntertwineEventLoop
internal import IntertwineFetch

/// Waiters who leave, and what follows for their downloads.
extension Flights {
    /// Legal at any time, for anybody, twice.
    func leave(_ waiter: UInt64) {
        guard let download = homes[waiter] else { return }
        let isOver = download.flight.stage.isOver
        if !isOver { metrics.departed[download.flight.stage.rawValue, default: 0] += 1 }
        if let reply = download.waiters[waiter]?.reply { refuse(ImageFailure(.cancelled), .bypass, reply) }
        forget(waiter)
        let commands = download.flight.leave(waiter)
        admission.setPriority(download.flight.priority, of: download.number, now: .now())
        perform(commands, download)
        yieldPlaces()
    }

    /// The grace is a courtesy for as long as it costs nobody a place: where somebody waits for one, it is over.
    func yieldPlaces() {
        for number in abandoned where admission.isWanted(placeOf: number) {
            graceOver(number)
        }
    }

    func cancel(_ id: UUID) -> Bool {
        guard let waiters = named[id] else { return false }
        for waiter in waiters {
            homes[waiter]?.spool.cancel(waiter)
            leave(waiter)
        }
        return true
    }

    func viewport(visible: [UUID], gone: [UUID]) -> Int {
        // The last to be hurried is the next to start, and should be the first that the client named.
        for waiter in visible.reversed().compactMap({ named[$0] }).joined() {
            guard let download = homes[waiter] else { continue }
            download.flight.setPriority(.visible, of: waiter)
            admission.hurry(download.number, now: .now())
        }
        startWaiting()
        let waiters = gone.reduce(0) { $0 + (named[$1]?.count ?? 0) }
        for id in gone {
            _ = cancel(id)
        }
        return waiters
    }

    /// - Parameter done: called where nothing of it is stored any more.
    func purge(_ selection: ImageSelection, _ done: @escaping @Sendable () -> Void) {
        for download in byNumber.values where selection.contains(download.source) {
            download.isPurged = true
            if byKey[download.key] === download { byKey[download.key] = nil }
        }
        if case .source(let source) = selection {
            memory.remove(source)
            disk?.remove(source)
            CachedImage.keys(source).forEach { negative.forget($0) }
            return done()
        }
        memory.remove(where: selection.contains)
        negative.forget { key in selection.contains(String(key.prefix { $0 != "\n" })) }
        if let disk { disk.remove(where: { selection.contains($0) }, done: done) } else { done() }
    }

    /// It has everything, or wants nothing any more.
    func forget(_ waiter: UInt64) {
        homes.removeValue(forKey: waiter)?.waiters[waiter] = nil
        if let id = names.removeValue(forKey: waiter) {
            named[id]?.remove(waiter)
            if named[id]?.isEmpty == true { named[id] = nil }
        }
    }

    func perform(_ commands: [Flight.Command], _ download: Download) {
        for command in commands {
            switch command {
            case .startGrace:
                let number = download.number
                let timer = OneShotTimer(on: loop) { [weak self] in
                    self?.assumeIsolated { $0.graceOver(number) }
                }
                timer.arm(after: configuration.grace)
                download.grace = timer
                abandoned.insert(number)
            case .stopGrace:
                download.grace?.disarm()
                abandoned.remove(download.number)
            case .pause, .resume:
                if let fetch = download.fetch { transfers.assumeIsolated { $0.setPaused(command == .pause, fetch) } }
            case .abort(let stage):
                metrics.aborted[stage.rawValue, default: 0] += 1
                metrics.bytesWastedAfterCancel += download.flight.receivedForNobody
                metrics.bytesThrownAway += download.flight.received
                record(nil, of: download.hop.authority)
                drop(download)
            }
        }
    }

    private func graceOver(_ number: UInt64) {
        abandoned.remove(number)
        guard let download = byNumber[number] else { return }
        download.grace?.disarm()
        perform(download.flight.graceOver(), download)
    }

    /// Out of the tables, out of the queue, off the wire. What its transfer still says is heard by nobody.
    func drop(_ download: Download) {
        byNumber[download.number] = nil
        linger(download)
        abandoned.remove(download.number)
        if byKey[download.key] === download { byKey[download.key] = nil }
        download.grace?.disarm()
        download.pause?.disarm()
        download.hold?.disarm()
        if let naming = download.naming { transfers.assumeIsolated { $0.leave(naming) } }
        if let fetch = download.fetch { transfers.cancel(fetch) }
        admission.leave(download.number)
        startWaiting()
    }
}
