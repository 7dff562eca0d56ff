public import Logging

/// What the process tells of itself: metrics and logs. One for a process, whose settings can change while it runs.
public struct Telemetry: Sendable {
    /// For `MetricsSystem.bootstrap(_:)`.
    public let registry: PrometheusRegistry
    public let control: LogControl
    public let sink: LogSink

    public init(_ settings: LogSettings, registry: PrometheusRegistry = PrometheusRegistry(), sink: LogSink = LogSink()) {
        self.registry = registry
        self.sink = sink
        control = LogControl(settings)
    }

    /// For `LoggingSystem.bootstrap(_:)`, and for loggers of its own.
    public var logHandler: ServiceLogHandler {
        ServiceLogHandler(control: control, sink: sink)
    }

    public var logger: Logger {
        Logger(label: "intertwine") { _ in logHandler }
    }
}
