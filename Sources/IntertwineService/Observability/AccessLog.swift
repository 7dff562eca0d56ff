internal import IntertwineHTTPServer
internal import Synchronization

/// The access log: a line for each request in the format of swift-log at level info.
/// Lines are written to the sink without a dictionary of metadata. Why: at a hundred thousand lines per second, dictionaries would cost
/// more than the responses. Lines contain no paths, queries and fields, except for the request's id and its trace.
final class AccessLog: Sendable {
    struct Scratch {
        var trace: [UInt8] = []
        var peers: [PeerAddress: [UInt8]] = [:]
        /// The day of the texts, because hashed addresses change every day.
        var day: Int64 = 0
        var forgotten = 0
    }

    private static let peerLimit = 4_096

    private let control: LogControl
    private let sink: LogSink
    private let anonymize: @Sendable (_ address: String, _ now: Int64) -> String?
    private let now: @Sendable () -> Int64
    private let second = Atomic<Int64>(0)
    private let used = Atomic(0)
    private let skipped = StripedCounter(width: 1)
    private let reportedDrops = Atomic(0)
    private let forgotten = Atomic(0)

    init(
        control: LogControl, sink: LogSink, now: @escaping @Sendable () -> Int64,
        anonymize: @escaping @Sendable (_ address: String, _ now: Int64) -> String?
    ) {
        self.control = control
        self.sink = sink
        self.anonymize = anonymize
        self.now = now
    }

    /// Invalidates the cached forms of all addresses, because their anonymization has changed.
    func forgetAddresses() { forgotten.add(1, ordering: .releasing) }

    var isOn: Bool {
        control.logsRequests
            && (used.load(ordering: .relaxed) < control.requestsPerSecond || second.load(ordering: .relaxed) != now() / 1_000)
    }

    /// The number of requests without a log line because of the rate limit.
    var skippedRequests: Int { skipped.sum(of: 0) }

    func write(_ record: RequestRecord) {
        guard control.logsRequests else { return }
        let now = now()
        guard tryAcquireLine(now) else { return }
        let (json, skipped) = (control.writesJSON, drainSkipped())
        sink.append { stripe in
            if skipped > 0 {
                stripe.lines.begin(level: "info", message: "requests without a log line", json: json)
                stripe.lines.field("requests", number: skipped)
                stripe.lines.end()
            }
            stripe.lines.begin(level: "info", message: "request", json: json)
            stripe.lines.field("method", text: record.method.label.utf8)
            stripe.lines.field("route", text: (record.route ?? "none").utf8)
            stripe.lines.field("status", number: record.status)
            stripe.lines.field("duration_ms", thousandths: Int(max(0, record.nanoseconds / 1_000)))
            stripe.lines.field("bytes", number: record.bytes)
            peer(record.peer, now: now, &stripe)
            stripe.scratch.trace.removeAll(keepingCapacity: true)
            if let id = record.requestID {
                id.append(to: &stripe.scratch.trace)
                stripe.lines.field("request_id", text: stripe.scratch.trace)
                stripe.scratch.trace.removeAll(keepingCapacity: true)
            }
            Self.appendTraceParent(continuing: record.traceParent, to: &stripe.scratch.trace)
            stripe.lines.field("traceparent", text: stripe.scratch.trace)
            stripe.lines.end()
        }
    }

    /// Beyond the limit, a call costs two loads and reads the clock.
    private func tryAcquireLine(_ now: Int64) -> Bool {
        let (current, limit) = (now / 1_000, control.requestsPerSecond)
        if second.load(ordering: .relaxed) != current {
            second.store(current, ordering: .relaxed)
            used.store(0, ordering: .relaxed)
        }
        if used.load(ordering: .relaxed) < limit, used.wrappingAdd(1, ordering: .relaxed).oldValue < limit { return true }
        skipped.add(1, to: 0)
        return false
    }

    private func drainSkipped() -> Int {
        // Usually no line was dropped, and the call costs one load.
        let total = skipped.sum(of: 0)
        return total == reportedDrops.load(ordering: .relaxed) ? 0 : total - reportedDrops.exchange(total, ordering: .relaxed)
    }

    private func peer(_ peer: PeerAddress, now: Int64, _ stripe: inout LogSink.Stripe) {
        let day = now / 86_400_000
        let forgotten = forgotten.load(ordering: .acquiring)
        if stripe.scratch.day != day || stripe.scratch.forgotten != forgotten || stripe.scratch.peers.count >= Self.peerLimit {
            (stripe.scratch.day, stripe.scratch.forgotten) = (day, forgotten)
            stripe.scratch.peers.removeAll(keepingCapacity: true)
        }
        let text: [UInt8]
        if let known = stripe.scratch.peers[peer.host] {
            text = known
        } else {
            text = Array((anonymize(peer.address, now) ?? "").utf8)
            stripe.scratch.peers[peer.host] = text
        }
        if !text.isEmpty { stripe.lines.field("peer", text: text) }
    }
}
