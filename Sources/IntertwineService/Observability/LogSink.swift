internal import Dispatch
internal import Glibc
internal import IntertwinePrimitives
public import Logging
internal import Synchronization

/// A buffer of log lines that a thread of its own writes to a descriptor, so that a slow terminal or a full pipe never delays a request.
///
/// Lines are written within 20 ms, warnings at once. If more than a mebibyte is pending, lines are dropped and counted. Lines of different
/// threads can be reordered within 20 ms; each line contains its time.
///
/// ```swift
/// let sink = LogSink()
/// let handler = ServiceLogHandler(control: LogControl(ServiceConfiguration().log), sink: sink)
/// Logger(label: "example") { _ in handler }.info("started")
/// sink.flush()
/// ```
public final class LogSink: Sendable {
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

    /// Creates a sink that writes to standard error.
    public convenience init() {
        self.init(descriptor: STDERR_FILENO)
    }

    /// - Parameter descriptor: The descriptor, which the caller owns.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// The number of lines that were dropped because the reader was too slow.
    package var droppedLines: Int { dropped.load(ordering: .relaxed) }

    /// Appends a line. `write` appends it with its line end to the stripe's lines.
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
    public func flush() {
        let done = MonotonicSemaphore()
        queue.async {
            self.writeAll()
            done.signal()
        }
        _ = done.wait(for: .seconds(1))
    }

    /// Writes all pending lines, on the queue.
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

/// The swift-log handler of the sink: one line for each event, as text or JSON.
///
/// ```swift
/// let telemetry = Telemetry(ServiceConfiguration().log)
/// LoggingSystem.bootstrap { _ in telemetry.logHandler }
/// ```
public struct ServiceLogHandler: LogHandler {
    /// The fields of every line of this logger.
    public var metadata: Logger.Metadata = [:]
    /// The source of further fields, read for every line; nil for none.
    public var metadataProvider: Logger.MetadataProvider?
    private let control: LogControl
    private let sink: LogSink
    /// The level of this logger; nil for the level of ``LogControl``.
    private var ownLevel: Logger.Level?

    /// Creates a handler without metadata, whose level is that of the control.
    public init(control: LogControl, sink: LogSink) {
        self.control = control
        self.sink = sink
    }

    /// The lowest level that is written. A set value replaces the level of ``LogControl`` for this logger.
    public var logLevel: Logger.Level {
        get { ownLevel ?? control.level }
        set { ownLevel = newValue }
    }

    /// The metadata field of this name; nil if there is none.
    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    /// Appends a line to the sink. Fields of the event replace those of the provider, and those replace fields of the logger.
    /// Lines of level warning and above are written at once.
    public func log(event: LogEvent) {
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
