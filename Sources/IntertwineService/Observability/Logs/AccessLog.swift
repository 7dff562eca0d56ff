internal import IntertwineFeed
internal import IntertwineHTTPServer

/// One line for each request, as it would come from swift-log at level info.
///
/// Written to the sink without a detour over a dictionary of metadata: at a hundred thousand lines a second that detour would cost more
/// than the answers do. Paths, queries and fields are not in it, but for the request's id and its trace.
final class AccessLog: Sendable {
    /// Buffers that are used again for every line.
    struct Scratch {
        var trace: [UInt8] = []
        var peers: [PeerAddress.Host: [UInt8]] = [:]
        /// The day of the peers: hashed addresses are others the next day.
        var day: Int64 = 0
    }

    /// Addresses that are remembered as they are written.
    private static let peerLimit = 4_096

    private let control: LogControl
    private let sink: LogSink
    private let privacy: AddressPrivacy
    private let now: @Sendable () -> Int64
    private let allowance = LineAllowance()

    init(control: LogControl, sink: LogSink, privacy: AddressPrivacy, now: @escaping @Sendable () -> Int64) {
        self.control = control
        self.sink = sink
        self.privacy = privacy
        self.now = now
    }

    /// Whether a request that ends now gets a line.
    var isOn: Bool { control.logsRequests && allowance.hasRoom(limit: control.requestsPerSecond, now: now) }

    /// Requests that got no line because there were too many within a second.
    var skippedRequests: Int { allowance.skippedLines }

    func write(_ record: RequestRecord) {
        guard control.logsRequests else { return }
        let now = now()
        guard allowance.take(limit: control.requestsPerSecond, now: now) else { return }
        let line = LogLine(json: control.writesJSON)
        let skipped = allowance.takeSkipped()
        sink.append { stripe in
            if skipped > 0 {
                line.begin(level: "info", message: "requests without a line", into: &stripe.lines)
                line.field("requests", number: skipped, into: &stripe.lines)
                line.end(&stripe.lines)
            }
            line.begin(level: "info", message: "request", into: &stripe.lines)
            line.field("method", text: record.method.label.utf8, into: &stripe.lines)
            line.field("route", text: (record.route ?? "none").utf8, into: &stripe.lines)
            line.field("status", number: record.status, into: &stripe.lines)
            line.field("duration_ms", thousandths: Int(max(0, record.nanoseconds / 1_000)), into: &stripe.lines)
            line.field("bytes", number: record.bytes, into: &stripe.lines)
            peer(record.peer, now: now, line, &stripe)
            stripe.scratch.trace.removeAll(keepingCapacity: true)
            if let id = record.trace?.requestID {
                id.append(to: &stripe.scratch.trace)
                line.field("request_id", text: stripe.scratch.trace, into: &stripe.lines)
                stripe.scratch.trace.removeAll(keepingCapacity: true)
            }
            TraceContext.append(continuing: record.trace?.traceParent, to: &stripe.scratch.trace)
            line.field("traceparent", text: stripe.scratch.trace, into: &stripe.lines)
            line.end(&stripe.lines)
        }
    }

    private func peer(_ peer: PeerAddress, now: Int64, _ line: LogLine, _ stripe: inout LogSink.Stripe) {
        let day = now / 86_400_000
        if stripe.scratch.day != day || stripe.scratch.peers.count >= Self.peerLimit {
            stripe.scratch.day = day
            stripe.scratch.peers.removeAll(keepingCapacity: true)
        }
        let text: [UInt8]
        if let known = stripe.scratch.peers[peer.host] {
            text = known
        } else {
            text = Array((privacy.kept(of: peer.address, now: now) ?? "").utf8)
            stripe.scratch.peers[peer.host] = text
        }
        if !text.isEmpty { line.field("peer", text: text, into: &stripe.lines) }
    }
}
