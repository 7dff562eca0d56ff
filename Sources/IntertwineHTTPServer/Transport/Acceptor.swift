internal import CIntertwineLinux
internal import Glibc
internal import Synchronization

/// Accepts connections on one worker and assigns each to the worker with the fewest connections, or to its own worker if that has about as
/// few.
/// The kernel wakes one of them for a new connection.
final class Acceptor: EventHandler, TimerHandler, @unchecked Sendable {
    // Safety of @unchecked: the variables are touched only on the worker's loop.

    private static let burst = 64
    /// The kernel's backlog holds the clients meanwhile.
    private static let pause = Duration.milliseconds(50)
    /// EPOLLEXCLUSIVE: the kernel does not wake every worker that watches the socket.
    private static let exclusive = ReadyEvents(rawValue: 1 << 28)

    private let worker: Worker
    private let workers: [Worker]
    private let socket: ListeningSocket
    private var registration: Registration?
    /// If descriptors run out, it is closed for a moment to accept and refuse a connection, which avoids a busy loop.
    private var reservedDescriptor: Int32
    private var isStopped = false

    init(worker: Worker, workers: [Worker], socket: ListeningSocket) {
        self.worker = worker
        self.workers = workers
        self.socket = socket
        self.reservedDescriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    }

    func start() throws {
        registration = try worker.loop.register(socket.descriptor, for: [.readable, Self.exclusive], handler: self)
    }

    func stop() {
        if isStopped { return }
        isStopped = true
        accept(atMost: .max)
        registration.map(worker.loop.deregister)
        registration = nil
        if reservedDescriptor >= 0 { close(reservedDescriptor) }
        reservedDescriptor = -1
    }

    func ready(_ events: ReadyEvents) {
        accept(atMost: Self.burst)
    }

    func timerDue(at now: MonotonicInstant) -> MonotonicInstant? {
        guard !isStopped, registration == nil else { return nil }
        if reservedDescriptor < 0 { reservedDescriptor = open("/dev/null", O_RDONLY | O_CLOEXEC) }
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
                // Connections that were just accepted come first: some are answered at once and free their slot.
                if accepted > 0, !isStopped { return }
                guard makeRoom() else { return }
            default: return
            }
        }
    }

    private func deal(_ descriptor: Int32, _ peer: PeerAddress) {
        var admission = worker.connectionLimiter.acquire(peer)
        if case .full = admission, closeIdle(sparesNewcomers: false) { admission = worker.connectionLimiter.acquire(peer) }
        guard case .admitted(let open, let isCrowded) = admission else {
            refuse(descriptor, peer)
            return
        }
        worker.observer?.connectionOpened(open: open)
        if isCrowded { _ = closeIdle(sparesNewcomers: true) }
        var target = worker
        // A small difference in load does not justify waking another worker.
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

    private func closeIdle(sparesNewcomers: Bool) -> Bool {
        if worker.closeIdle(sparesNewcomers: sparesNewcomers) { return true }
        for other in workers where other !== worker { other.loop.execute { _ = other.closeIdle(sparesNewcomers: sparesNewcomers) } }
        return false
    }

    private func makeRoom() -> Bool {
        if closeIdle(sparesNewcomers: false) { return true }
        if reservedDescriptor >= 0 {
            close(reservedDescriptor)
            let (descriptor, address) = SocketAddress.filled { clinux_accept(socket.descriptor, $0, &$1) }
            if descriptor >= 0 { refuse(descriptor, PeerAddress(address.storage)) }
            reservedDescriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            if descriptor >= 0, reservedDescriptor >= 0 { return true }
        }
        registration.map(worker.loop.deregister)
        registration = nil
        if !isStopped { _ = worker.loop.schedule(self, at: worker.loop.now.advanced(by: Self.pause)) }
        return false
    }
}
