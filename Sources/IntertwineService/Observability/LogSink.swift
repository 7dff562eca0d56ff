internal import Dispatch
internal import Glibc
internal import IntertwinePrimitives
package import Logging
internal import Synchronization

/// A buffer of log lines that a thread of its own writes to a descriptor, so that a slow terminal or a full pipe never delays a request.
package final class LogSink: Sendable {
    private static let delay = DispatchTimeInterval.milliseconds(20)
    private static let piece = 64 << 10
    private static let limit = 256 << 10

    /// A part of the buffer for about one thread, so that threads rarely contend for a lock.
    struct Stripe {
        var lines = LogLineEncoder()
        var isScheduled = false
        var scratch = AccessLog.Scratch()
    }

    private let descriptor: Int32
    private let queue = DispatchQueue(label: "intertwine.log")
    private let stripes = InlineArray<4, Mutex<Stripe>> { _ in Mutex(Stripe()) }
    private let dropped = Atomic(0)
    /// A spare buffer that is exchanged with a stripe's lines when they are written. Why: reused memory is not fragmented.
    private let spareBuffer = Mutex<[UInt8]>([])

    package convenience init() {
        self.init(descriptor: STDERR_FILENO)
    }

    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// The number of lines that were dropped because the reader was too slow.
    var droppedLines: Int { dropped.load(ordering: .relaxed) }

    func append(isUrgent: Bool = false, _ write: (inout Stripe) -> Void) {
        let (wasScheduled, isFull) = stripes[StripedCounter.stripe].withLock { stripe in
            guard stripe.lines.bytes.count < Self.limit else {
                dropped.add(1, ordering: .relaxed)
                return (true, false)
            }
            let before = stripe.lines.bytes.count
            write(&stripe)
            defer { stripe.isScheduled = true }
            return (stripe.isScheduled, before < Self.piece && stripe.lines.bytes.count >= Self.piece)
        }
        if isUrgent || isFull {
            queue.async { self.writeAll() }
        } else if !wasScheduled {
            queue.asyncAfter(deadline: .now() + Self.delay) { self.writeAll() }
        }
    }

    /// Blocks until all appended lines are written, at most for a second. Why: a stuck reader must not delay the end of the process.
    package func flush() {
        let done = MonotonicSemaphore()
        queue.async {
            self.writeAll()
            done.signal()
        }
        _ = done.wait(for: .seconds(1))
    }

    private func writeAll() {
        for index in stripes.indices {
            var lines = spareBuffer.withLock { spareBuffer in
                defer { spareBuffer = [] }
                return spareBuffer
            }
            lines = stripes[index].withLock { stripe in
                stripe.isScheduled = false
                return stripe.lines.replaceBuffer(lines)
            }
            write(lines)
            lines.removeAll(keepingCapacity: true)
            spareBuffer.withLock { $0 = lines }
        }
    }

    private func write(_ bytes: [UInt8]) {
        // If the reader of the log is gone, the service continues.
        _ = bytes.withUnsafeBytes { FileIO.write($0, to: descriptor) }
    }
}

package struct ServiceLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?
    private let control: LogControl
    private let sink: LogSink
    private var ownLevel: Logger.Level?

    package init(control: LogControl, sink: LogSink) {
        self.control = control
        self.sink = sink
    }

    package var logLevel: Logger.Level {
        get { ownLevel ?? control.level }
        set { ownLevel = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var fields = metadata
        for more in [metadataProvider?.get(), event.metadata] { fields.merge(more ?? [:]) { $1 } }
        if let error = event.error { fields["error"] = "\(error)" }
        let sorted = fields.sorted { $0.key < $1.key }
        sink.append(isUrgent: event.level >= .warning) { stripe in
            stripe.lines.begin(level: event.level.rawValue, message: event.message.description, json: control.writesJSON)
            for (name, value) in sorted { stripe.lines.field(name, text: "\(value)".utf8) }
            stripe.lines.end()
        }
    }
}
