public import Logging
internal import Synchronization

/// The metrics and logs of the process. A process has one instance, whose settings can change at run time.
public struct Telemetry: Sendable {
    /// The metrics registry, for `MetricsSystem.bootstrap(_:)`.
    public let registry: PrometheusRegistry
    public let control: LogControl
    public let sink: LogSink

    public init(_ settings: LogSettings, registry: PrometheusRegistry = PrometheusRegistry(), sink: LogSink = LogSink()) {
        self.registry = registry
        self.sink = sink
        control = LogControl(settings)
    }

    /// A new log handler, for `LoggingSystem.bootstrap(_:)` and for separate loggers.
    public var logHandler: ServiceLogHandler {
        ServiceLogHandler(control: control, sink: sink)
    }

    public var logger: Logger {
        Logger(label: "intertwine") { _ in logHandler }
    }
}

/// The current log settings. Any thread can change them at any time, with immediate effect.
public final class LogControl: Sendable {
    private let levelIndex: Atomic<Int>
    private let isJSON: Atomic<Bool>
    private let requests: Atomic<Bool>
    private let perSecond: Atomic<Int>

    public init(_ settings: LogSettings) {
        levelIndex = Atomic(Self.index(of: settings.level))
        isJSON = Atomic(settings.format == .json)
        requests = Atomic(settings.requests)
        perSecond = Atomic(settings.requestsPerSecond)
    }

    public func apply(_ settings: LogSettings) {
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
public struct LogSettings: Sendable {
    public enum Format: String, Sendable, CaseIterable {
        /// A text line such as `2026-11-21T09:00:00.000Z info request route=/feed …`.
        case text
        /// A JSON object per line.
        case json
    }

    public enum Level: String, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    public var format: Format
    public var level: Level
    /// A Boolean value indicating whether each request gets a line, at level info.
    public var requests: Bool
    /// The rate limit of request lines per second. Requests beyond it are counted, and one line reports their number.
    public var requestsPerSecond: Int

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

    public init() {}
}
