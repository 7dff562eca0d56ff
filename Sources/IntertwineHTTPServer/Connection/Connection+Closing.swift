internal import CIntertwineLinux
internal import Glibc
internal import IntertwineEventLoop

extension Connection {
    /// What is staged and pending is the last that this connection says.
    func beginClosing(lingering: Bool = false) {
        if phase == .closed || phase == .lingering { return }
        if lingering { mustLinger = true }
        if let exchange {
            abandon(exchange)
            self.exchange = nil
        }
        phase = .closing
    }

    /// All is sent. Where the client may still be sending, its bytes are dropped for a while: closing on them would have the kernel
    /// reset the connection, and the client lose the answer.
    func finishClosing() {
        guard mustLinger || hasUnread, !peerHasClosed else {
            close()
            return
        }
        shutdown(descriptor, Int32(SHUT_WR))
        held = []
        phase = .lingering
        lingerBudget = worker.configuration.lingerLimit
        deadline = worker.loop.now.advanced(by: worker.configuration.lingerTimeout)
    }

    /// Whether something of the client lies in the kernel that nobody is going to read.
    private var hasUnread: Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
    }

    /// Closes at once.
    func close() {
        if phase == .closed { return }
        phase = .closed
        worker.stage.clear()
        if let exchange {
            abandon(exchange)
            if !exchange.isDiscarding {
                observe(exchange, status: exchange.status == 0 ? 499 : exchange.status, bytes: exchange.sent)
            }
            worker.giveBack(exchange.parser)
            self.exchange = nil
        }
        if let parser { worker.giveBack(parser) }
        parser = nil
        held = []
        pending = []
        pendingBytes = 0
        if let timer { worker.loop.cancel(timer) }
        if let registration { worker.loop.forget(registration) }
        timer = nil
        registration = nil
        Glibc.close(descriptor)
        worker.forget(self)
    }

    /// Somebody else needs the place of this idle connection: closes it, unless a request turns out to be there already. Who has not
    /// been answered anything yet, and may be about to ask, is told why; for all others an end between requests is nothing unusual.
    func giveWay() {
        guard isIdle else { return }
        let before = requests
        readable(.readable)
        settle()
        guard isIdle, requests == before else { return }
        if requests == 0 {
            worker.refuse(descriptor)
            worker.observer?.connectionRefused(peer: peer)
        }
        close()
    }

    /// Closes so that the client sees an error and not an end.
    func reset() {
        if phase == .closed { return }
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// The server is stopping: closes what is idle, and lets the rest finish. A connection that was busy a moment ago may have a
    /// request on its way, which gets its chance; one whose answer is out and whose body is only read to be dropped gets none.
    func drain() {
        if exchange?.isDiscarding == true {
            beginClosing(lingering: true)
            settle()
        }
        guard isIdle else { return }
        let now = LoopInstant.now()
        readable(.readable)
        if isIdle, now.since(lastActive) > .seconds(1), requests > 0 {
            close()
        } else {
            isLastChance = isIdle
        }
        settle()
    }
}
