internal import CIntertwineLinux
internal import Glibc
internal import IntertwineEventLoop
internal import Synchronization

/// Accepts connections on one worker and deals them out: to the worker with the fewest, its own where that is about as good.
///
/// Every worker has one, on the same listening socket; the kernel wakes one of them for a new connection.
final class Acceptor: EventHandler, TimerHandler, @unchecked Sendable {
    // Safety of @unchecked: the variables are touched on the worker's loop only.

    private static let burst = 64
    /// How long accepting pauses when there is no descriptor at all. The kernel's backlog holds the clients meanwhile.
    private static let pause = Duration.milliseconds(50)
    /// EPOLLEXCLUSIVE: of all workers that watch the socket, not every one is woken.
    private static let exclusive = ReadyEvents(rawValue: 1 << 28)

    private let worker: Worker
    private let workers: [Worker]
    private let socket: ListeningSocket
    private var registration: Registration?
    /// Given up for a moment when descriptors run out, to accept and refuse instead of spinning.
    private var spare: Int32
    private var isStopped = false

    init(worker: Worker, workers: [Worker], socket: ListeningSocket) {
        self.worker = worker
        self.workers = workers
        self.socket = socket
        self.spare = open("/dev/null", O_RDONLY | O_CLOEXEC)
    }

    func start() throws {
        registration = try worker.loop.register(socket.descriptor, for: [.readable, Self.exclusive], handler: self)
    }

    /// Takes what is waiting, then stops listening.
    func stop() {
        if isStopped { return }
        isStopped = true
        accept(atMost: .max)
        registration.map(worker.loop.deregister)
        registration = nil
        if spare >= 0 { close(spare) }
        spare = -1
    }

    func ready(_ events: ReadyEvents) {
        accept(atMost: Self.burst)
    }

    func timerDue(at now: MonotonicInstant) -> MonotonicInstant? {
        guard !isStopped, registration == nil else { return nil }
        if spare < 0 { spare = open("/dev/null", O_RDONLY | O_CLOEXEC) }
        do {
            try start()
            return nil
        } catch {
            return now.advanced(by: Self.pause)
        }
    }

    private func accept(atMost limit: Int) {
        var accepted = 0
        for _ in 0..<limit {
            let (descriptor, address) = SocketAddress.filled { clinux_accept(socket.descriptor, $0, &$1) }
            if descriptor >= 0 {
                deal(descriptor, PeerAddress(address.storage))
                accepted += 1
                continue
            }
            switch -descriptor {
            case ECONNABORTED, EPROTO, ENETDOWN, EHOSTUNREACH, ENETUNREACH, EPERM: continue
            case EMFILE, ENFILE, ENOMEM, ENOBUFS:
                // Those just accepted come first: some are answered at once, and leave room.
                if accepted > 0, !isStopped { return }
                guard makeRoom() else { return }
            default: return
            }
        }
    }

    private func deal(_ descriptor: Int32, _ peer: PeerAddress) {
        var admission = worker.census.acquire(peer)
        if case .full = admission, closeIdle(sparesNewcomers: false) { admission = worker.census.acquire(peer) }
        guard case .admitted(let open, let isCrowded) = admission else {
            refuse(descriptor, peer)
            return
        }
        worker.observer?.connectionOpened(open: open)
        if isCrowded { _ = closeIdle(sparesNewcomers: true) }
        var target = worker
        // Among many, a few more or less are not worth waking another worker.
        let own = worker.load.load(ordering: .relaxed)
        var least = own - own / 8
        for other in workers where other !== worker {
            let load = other.load.load(ordering: .relaxed)
            if load < least { (target, least) = (other, load) }
        }
        target.load.add(1, ordering: .relaxed)
        if target === worker {
            worker.adopt(descriptor, peer: peer)
        } else {
            let chosen = target
            chosen.loop.execute { chosen.adopt(descriptor, peer: peer) }
        }
    }

    private func refuse(_ descriptor: Int32, _ peer: PeerAddress) {
        worker.refuse(descriptor)
        close(descriptor)
        worker.observer?.connectionRefused(peer: peer)
    }

    /// Closes idle connections of this worker, and where it has none, soon those of the others.
    private func closeIdle(sparesNewcomers: Bool) -> Bool {
        if worker.closeIdle(sparesNewcomers: sparesNewcomers) { return true }
        for other in workers where other !== worker { other.loop.execute { _ = other.closeIdle(sparesNewcomers: sparesNewcomers) } }
        return false
    }

    /// There is no descriptor left: closes idle connections, or else accepts with the spare one and refuses. False where even
    /// that does not work: accepting then pauses.
    private func makeRoom() -> Bool {
        if closeIdle(sparesNewcomers: false) { return true }
        if spare >= 0 {
            close(spare)
            let (descriptor, address) = SocketAddress.filled { clinux_accept(socket.descriptor, $0, &$1) }
            if descriptor >= 0 { refuse(descriptor, PeerAddress(address.storage)) }
            spare = open("/dev/null", O_RDONLY | O_CLOEXEC)
            if descriptor >= 0, spare >= 0 { return true }
        }
        registration.map(worker.loop.deregister)
        registration = nil
        if !isStopped { _ = worker.loop.schedule(self, at: worker.loop.now.advanced(by: Self.pause)) }
        return false
    }
}
