internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import Synchronization

/// One line for each request, as it would come from swift-log at level info.
///
/// Written to the sink without a detour over a dictionary of metadata: at a hundred thousand lines a second that detour would cost more
/// than the answers do. Paths, queries and fields are not in it, but for the request's id and its trace.
package final class AccessLog: Sendable {
    /// Buffers that are used again for every line.
    struct Scratch {
        var trace: [UInt8] = []
        /// By ``PeerAddress/host``.
        var peers: [PeerAddress: [UInt8]] = [:]
        /// The day of the peers: hashed addresses are others the next day.
        var day: Int64 = 0
        /// How often all had been forgotten when these were noted.
        var forgotten = 0
    }

    /// Addresses that are remembered as they are written.
    private static let peerLimit = 4_096

    private let control: LogControl
    private let sink: LogSink
    private let anonymize: @Sendable (_ address: String, _ now: Int64) -> String?
    private let now: @Sendable () -> Int64
    /// The second whose lines are counted, and how many of them are used up.
    private let second = Atomic<Int64>(0)
    private let used = Atomic(0)
    /// Lines that were left out, and how many of these a line has told of.
    private let skipped = StripedCounter(width: 1)
    private let reportedDrops = Atomic(0)
    private let forgotten = Atomic(0)

    /// - Parameters:
    ///   - kept: what of an address may be written; nil for nothing. It may be another one the next day.
    ///   - now: milliseconds since 1970-01-01 UTC.
    package init(
        control: LogControl, sink: LogSink, now: @escaping @Sendable () -> Int64,
        anonymize: @escaping @Sendable (_ address: String, _ now: Int64) -> String?
    ) {
        self.control = control
        self.sink = sink
        self.anonymize = anonymize
        self.now = now
    }

    /// Has each address be asked about again, as other ones may be written for them from now on.
    package func forgetAddresses() { forgotten.add(1, ordering: .releasing) }

    /// Whether a request that ends now gets a line.
    var isOn: Bool {
        control.logsRequests
            && (used.load(ordering: .relaxed) < control.requestsPerSecond || second.load(ordering: .relaxed) != now() / 1_000)
    }

    /// Requests that got no line because there were too many within a second.
    package var skippedRequests: Int { skipped.sum(of: 0) }

    func write(_ record: RequestRecord) {
        guard control.logsRequests else { return }
        let now = now()
        guard tryAcquireLine(now) else { return }
        let (json, skipped) = (control.writesJSON, drainSkipped())
        sink.append { stripe in
            if skipped > 0 {
                stripe.lines.begin(level: "info", message: "requests without a line", json: json)
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

    /// Takes one of the second's lines; false where none is left.
    ///
    /// Once they are used up, asking costs two loads and the clock. Two threads that begin a second at the same moment may let a few more
    /// through: a bound on the cost, not an exact count.
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

    /// How many lines were left out since this was last asked.
    private func drainSkipped() -> Int {
        // Most lines find none: a load is all they pay.
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
