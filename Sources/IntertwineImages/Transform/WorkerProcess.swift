internal import Glibc
internal import IntertwineHTTPServer

struct WorkerProcess {
    enum State: Equatable {
        case starting
        case idle
        case busy(UInt32)
        case cancelled(UInt32)
    }

    private static let chunk = 256 * 1_024

    let process: pid_t
    let socket: Int32
    var registration: Registration?
    var timer: OneShotTimer?
    var state = State.starting
    var jobs = 0
    private var incoming = WorkerMessageReader()
    private var outgoing: [[UInt8]] = []
    private var sent = 0

    init(_ started: WorkerStarter.Started) {
        (process, socket) = (started.process, started.socket)
    }

    var interest: ReadyEvents { outgoing.isEmpty ? .readable : [.readable, .writable] }

    mutating func add(_ bytes: [UInt8]) {
        if !bytes.isEmpty { outgoing.append(bytes) }
    }

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

    /// Why only one: a worker owes a single response, and one that sends data without end must not occupy the event loop.
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

/// The restart policy for crashed workers: immediately, with increasing delays after repeated crashes.
struct RestartPolicy {
    let tolerated: Int
    private(set) var strikes = 0.0
    private(set) var last: MonotonicInstant?

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
