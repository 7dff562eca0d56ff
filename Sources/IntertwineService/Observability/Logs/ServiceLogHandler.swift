public import Logging

/// swift-log's way to the sink: one line for each event, as text or JSON.
public struct ServiceLogHandler: LogHandler {
    public var metadata: Logger.Metadata = [:]
    public var metadataProvider: Logger.MetadataProvider?
    private let control: LogControl
    private let sink: LogSink
    /// Set for one logger alone; the control's otherwise.
    private var ownLevel: Logger.Level?

    public init(control: LogControl, sink: LogSink) {
        self.control = control
        self.sink = sink
    }

    public var logLevel: Logger.Level {
        get { ownLevel ?? control.level }
        set { ownLevel = newValue }
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        let line = LogLine(json: control.writesJSON)
        var fields = metadata
        for more in [metadataProvider?.get(), event.metadata] { fields.merge(more ?? [:]) { $1 } }
        if let error = event.error { fields["error"] = "\(error)" }
        let sorted = fields.sorted { $0.key < $1.key }
        sink.append(isUrgent: event.level >= .warning) { stripe in
            line.begin(level: event.level.rawValue, message: event.message.description, into: &stripe.lines)
            for (name, value) in sorted { line.field(name, text: "\(value)".utf8, into: &stripe.lines) }
            line.end(&stripe.lines)
        }
    }
}
