internal import Glibc
internal import IntertwineEventLoop
internal import IntertwinePictureWire

/// One worker as the pool sees it: what it is doing, and the socket to it. On the pool's loop.
struct WorkerProcess {
    enum State: Equatable {
        /// It has not said hello yet.
        case starting
        case idle
        case busy(UInt32)
        /// Nobody wants any more what it does.
        case calledOff(UInt32)
    }

    private static let chunk = 256 * 1_024

    let process: pid_t
    let socket: Int32
    var registration: Registration?
    /// What it may take until.
    var timer: OneShotTimer?
    var state = State.starting
    /// How many jobs it has done.
    var jobs = 0
    private var incoming = WorkerMessageReader()
    private var outgoing: [[UInt8]] = []
    private var sent = 0

    init(_ started: WorkerStarter.Started) {
        (process, socket) = (started.process, started.socket)
    }

    /// What to watch for.
    var interest: ReadyEvents { outgoing.isEmpty ? .readable : [.readable, .writable] }

    mutating func add(_ bytes: [UInt8]) {
        if !bytes.isEmpty { outgoing.append(bytes) }
    }

    /// Writes what there is room for. False where the worker is gone.
    mutating func write() -> Bool {
        while let first = outgoing.first {
            let count = first.withUnsafeBytes { bytes in
                send(socket, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count >= 0 else { return errno == EAGAIN || errno == EINTR }
            sent += count
            if sent == first.count {
                outgoing.removeFirst()
                sent = 0
            }
        }
        return true
    }

    /// Reads as far as there is an answer: one at a time is all that it owes, and who says more and more is not listened to without an end. Nil
    /// where the worker is gone, or speaks nonsense.
    mutating func read() -> [WorkerMessage]? {
        while true {
            let (count, answers) = withUnsafeTemporaryAllocation(byteCount: Self.chunk, alignment: 16) { buffer in
                let count = recv(socket, buffer.baseAddress, buffer.count, 0)
                return (count, count > 0 ? incoming.consume(buffer.prefix(count)) : [])
            }
            if count < 0 && errno == EAGAIN { return [] }
            if count < 0 && errno == EINTR { continue }
            guard count > 0, let answers else { return nil }
            if !answers.isEmpty { return answers }
        }
    }
}

/// How soon a worker that died is replaced: at once, unless that happens again and again. Pure.
struct RestartPolicy {
    /// Deaths within a while that are taken as they come.
    private let tolerated: Int
    private var strikes = 0.0
    private var last: MonotonicInstant?

    init(tolerated: Int) {
        self.tolerated = tolerated
    }

    /// How long to wait before the next one is started. Every five seconds one death is forgotten.
    mutating func died(now: MonotonicInstant) -> Duration {
        if let last {
            let gone = now.since(last).components
            strikes = max(0, strikes - (Double(gone.seconds) + Double(gone.attoseconds) / 1e18) / 5)
        }
        last = now
        strikes = min(strikes + 1, Double(tolerated) + 10)
        let beyond = Int(strikes) - tolerated
        return beyond <= 0 ? .zero : min(.seconds(30), .milliseconds(100 << min(beyond, 10)))
    }
}
