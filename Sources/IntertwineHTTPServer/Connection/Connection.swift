internal import Glibc
internal import IntertwineEventLoop

/// One connection of a client, from being accepted to being closed. Confined to its worker's loop.
///
/// While it is idle it owns no buffer and no parser; it borrows the worker's and keeps them only while a message is incomplete.
final class Connection: EventHandler, TimerHandler, @unchecked Sendable {
    // Safety of @unchecked: all variables are touched on the worker's loop only; other threads merely pass the reference back to it.

    enum Phase {
        /// Waits for, or reads, a request's head.
        case head
        /// Reads a request's body; the handler may be at work already.
        case body
        /// The handler is at work.
        case responding
        /// The last answer is on its way.
        case closing
        /// The last answer is sent; what the client still sends is dropped.
        case lingering
        case closed
    }

    enum DeadlineKind { case none, idle, head, body, handler, write, linger }

    /// After so many bytes of answers to requests that came together, the other connections have their turn.
    static let bytesPerTurn = 1 << 20

    /// How long a client that has connected may take until its first request is here, when others want its place.
    private static let newcomerTime = Duration.milliseconds(100)

    let worker: Worker
    let descriptor: Int32
    let peer: PeerAddress
    /// The place in the worker's list.
    var index = 0
    /// Once closed, it stays so: the descriptor may be somebody else's by then.
    var phase = Phase.head {
        didSet { if oldValue == .closed { phase = .closed } }
    }
    var registration: Registration?
    var interest: ReadyEvents = [.readable, .peerClosed]

    /// Bytes received that could not be used up: a part of a head, or requests behind one that is being answered.
    var held: [UInt8] = []
    /// The parser that has read a part of a head.
    var parser: HeadParser?
    var exchange: Exchange?
    var pending: [Segment] = []
    var pendingBytes = 0

    /// There are requests left to serve, after the other connections.
    var isWaitingForTurn = false
    var requests = 0
    let openedAt: LoopInstant
    var lastActive: LoopInstant
    var messageBegun: LoopInstant
    /// Since when it is counted what the client takes of that which waits for it, how much the kernel had of it then, and how much the
    /// kernel was given since.
    var lastProgress: LoopInstant
    var unsentBefore = 0
    var handedOver = 0
    /// Bytes that the client has taken beyond what it had to.
    var takingCredit = 0.0
    /// The connection is idle but for what the kernel still has to send.
    var isTaking = false
    var timer: TimerToken?
    var timerAt: LoopInstant
    var deadline: LoopInstant
    var deadlineKind = DeadlineKind.none
    /// The client has closed its sending side; there may be bytes to read before that end.
    var peerIsClosing = false
    /// The end of what the client sends has been read.
    var peerHasClosed = false
    /// Closing at once could make the client lose the answer.
    var mustLinger = false
    var lingerBudget = 0
    /// No more than a chance for a request that is on its way, because the server is stopping.
    var isLastChance = false

    init(descriptor: Int32, peer: PeerAddress, worker: Worker) {
        self.worker = worker
        self.descriptor = descriptor
        self.peer = peer
        let now = worker.loop.now
        self.openedAt = now
        self.lastActive = now
        self.messageBegun = now
        self.lastProgress = now
        self.deadline = now
        self.timerAt = now
    }

    /// Waits for a next request and owes nothing.
    var isIdle: Bool { phase == .head && held.isEmpty && pending.isEmpty && parser == nil }

    /// Has been accepted just now and not said anything: its request is likely to be on its way.
    var isNewcomer: Bool { requests == 0 && worker.loop.now.since(openedAt) < Self.newcomerTime }

    /// Reads before it is watched: most clients have sent their request by the time that they are accepted, and many want no second.
    func start() {
        deadline = worker.loop.now.advanced(by: worker.configuration.idleTimeout)
        deadlineKind = .idle
        readable(.readable)
        settle()
        if phase == .closed { return }
        guard let registration = try? worker.loop.register(descriptor, for: interest, handler: self) else {
            close()
            return
        }
        self.registration = registration
        timerAt = deadline
        timer = worker.loop.schedule(self, at: deadline)
    }

    func ready(_ events: ReadyEvents) {
        if !events.isDisjoint(with: [.failed, .hungUp]) {
            close()
            return
        }
        if events.contains(.writable) { writePending() }
        if phase != .closed, !events.isDisjoint(with: [.readable, .peerClosed]) { readable(events) }
        settle()
    }

    /// Brings what was decided to the kernel: sends what is staged, closes what is over, watches and waits for what is next. The last
    /// thing whenever the connection was at work, closed or not: nothing may be left in the worker's stage for the next one to send.
    func settle() {
        flush()
        if phase == .closing, pending.isEmpty { finishClosing() }
        if phase == .closed { return }
        if phase == .head, peerHasClosed, pending.isEmpty {
            close()
            return
        }
        updateInterest()
        updateDeadline()
    }

    private func updateInterest() {
        var wanted: ReadyEvents = []
        let reads =
            switch phase {
            case .head: pending.isEmpty && !isWaitingForTurn
            case .body: !(exchange?.isPaused ?? false) && pendingBytes < worker.configuration.outputHighWater
            // Left as it is: most answers come before the client sends anything more.
            case .responding: interest.contains(.readable)
            case .closing: false
            case .lingering: true
            case .closed: false
            }
        if reads, !peerHasClosed { wanted.insert(.readable) }
        if !peerIsClosing { wanted.insert(.peerClosed) }
        if !pending.isEmpty { wanted.insert(.writable) }
        setInterest(wanted)
    }

    func setInterest(_ wanted: ReadyEvents) {
        guard wanted != interest else { return }
        interest = wanted
        guard let registration else { return }
        do { try worker.loop.update(registration, for: wanted) } catch { close() }
    }
}
