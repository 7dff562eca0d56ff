package import Logging
internal import Synchronization

/// The metrics and logs of the process. A process has one instance, whose settings can change at run time.
///
/// ```swift
/// let telemetry = Telemetry(LogSettings(level: .debug))
/// LoggingSystem.bootstrap { _ in telemetry.logHandler }
/// MetricsSystem.bootstrap(telemetry.registry)
/// ```
package struct Telemetry: Sendable {
    /// The metrics registry, for `MetricsSystem.bootstrap(_:)`.
    package let registry: PrometheusRegistry
    /// The current log settings, which can change at run time.
    package let control: LogControl
    /// The buffer that all log lines pass.
    let sink: LogSink

    /// Creates metrics and logs. By default, the registry is empty and the sink writes to standard error.
    package init(_ settings: LogSettings, registry: PrometheusRegistry = PrometheusRegistry(), sink: LogSink = LogSink()) {
        self.registry = registry
        self.sink = sink
        control = LogControl(settings)
    }

    /// A new log handler, for `LoggingSystem.bootstrap(_:)` and for separate loggers.
    package var logHandler: ServiceLogHandler {
        ServiceLogHandler(control: control, sink: sink)
    }

    /// A logger with the label `intertwine`. It works without `LoggingSystem.bootstrap(_:)`.
    ///
    /// ```swift
    /// let telemetry = Telemetry(LogSettings())
    /// telemetry.logger.info("started", metadata: ["port": "8080"])
    /// telemetry.sink.flush()
    /// ```
    package var logger: Logger {
        Logger(label: "intertwine") { _ in logHandler }
    }
}

/// The current log settings. Any thread can change them at any time, with immediate effect.
package final class LogControl: Sendable {
    private let levelIndex: Atomic<Int>
    private let isJSON: Atomic<Bool>
    private let requests: Atomic<Bool>
    private let perSecond: Atomic<Int>

    /// Creates a control with initial settings.
    package init(_ settings: LogSettings) {
        levelIndex = Atomic(Self.index(of: settings.level))
        isJSON = Atomic(settings.format == .json)
        requests = Atomic(settings.requests)
        perSecond = Atomic(settings.requestsPerSecond)
    }

    /// Changes the settings for all loggers at once, except loggers with a level of their own.
    ///
    /// ```swift
    /// telemetry.control.apply(LogSettings(format: .json, level: .warning, requests: false))
    /// telemetry.logger.info("is not written")
    /// ```
    package func apply(_ settings: LogSettings) {
        levelIndex.store(Self.index(of: settings.level), ordering: .relaxed)
        isJSON.store(settings.format == .json, ordering: .relaxed)
        requests.store(settings.requests, ordering: .relaxed)
        perSecond.store(settings.requestsPerSecond, ordering: .relaxed)
    }

    var level: Logger.Level {
        let index = levelIndex.load(ordering: .relaxed)
        return Logger.Level.allCases.indices.contains(index) ? Logger.Level.allCases[index] : .info
    }

    var writesJSON: Bool { isJSON.load(ordering: .relaxed) }

    /// A Boolean value indicating whether requests are logged.
    var logsRequests: Bool { requests.load(ordering: .relaxed) && levelIndex.load(ordering: .relaxed) <= Self.info }

    /// The rate limit of request lines per second.
    var requestsPerSecond: Int { perSecond.load(ordering: .relaxed) }

    private static let info = index(of: .info)

    private static func index(of level: LogSettings.Level) -> Int {
        Logger.Level.allCases.firstIndex { $0.rawValue == level.rawValue } ?? 2
    }
}

/// The settings `log.*` of log lines on standard error.
///
/// ```swift
/// var settings = LogSettings(format: .json, level: .info)
/// settings.requestsPerSecond = 100
/// let telemetry = Telemetry(settings)
/// ```
public struct LogSettings: Sendable {
    /// The format of log lines: the setting `log.format`.
    public enum Format: String, Sendable, CaseIterable {
        /// A text line such as `2026-11-21T09:00:00.000Z info request route=/feed …`.
        case text
        /// A JSON object per line.
        case json
    }

    /// The lowest level that is written: the setting `log.level`.
    public enum Level: String, Sendable, CaseIterable {
        /// The levels of swift-log, from the most detailed to the most severe.
        case trace, debug, info, notice, warning, error, critical
    }

    /// The format of all lines.
    public var format: Format
    /// The lowest level that is written.
    public var level: Level
    /// A Boolean value indicating whether each request gets a line, at level info.
    public var requests: Bool
    /// The rate limit of request lines per second. Requests beyond it are counted, and one line reports their number.
    public var requestsPerSecond: Int

    /// Creates settings: by default text lines of level info and above, with at most 2,000 request lines per second.
    public init(format: Format = .text, level: Level = .info, requests: Bool = true, requestsPerSecond: Int = 2_000) {
        self.format = format
        self.level = level
        self.requests = requests
        self.requestsPerSecond = requestsPerSecond
    }
}

/// The settings `metrics.*`.
public struct MetricsSettings: Sendable {
    /// A Boolean value indicating whether requests and connections are counted, for `/metrics` on the admin listener.
    public var isEnabled = true

    /// Creates settings with the default values.
    public init() {}
}
