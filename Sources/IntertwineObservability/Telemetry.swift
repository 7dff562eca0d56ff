public import Logging
internal import Synchronization

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

/// What is logged, and in which form. Changed at any time, by one thread or another, and in force at once.
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

    /// Whether each request gets a line.
    var logsRequests: Bool { requests.load(ordering: .relaxed) && levelIndex.load(ordering: .relaxed) <= Self.info }

    /// Requests that get a line within a second.
    var requestsPerSecond: Int { perSecond.load(ordering: .relaxed) }

    private static let info = index(of: .info)

    private static func index(of level: LogSettings.Level) -> Int {
        Logger.Level.allCases.firstIndex { $0.rawValue == level.rawValue } ?? 2
    }
}

/// `log.*`: what is written to standard error, and how.
public struct LogSettings: Sendable {
    public enum Format: String, Sendable, CaseIterable {
        /// `2026-11-21T09:00:00.000Z info request route=/feed …`
        case text
        /// One JSON object a line.
        case json
    }

    public enum Level: String, Sendable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    public var format: Format
    public var level: Level
    /// Whether each request gets a line, at level info.
    public var requests: Bool
    /// Requests that get a line within a second; those beyond it are counted, and one line tells how many there were.
    public var requestsPerSecond: Int

    public init(format: Format = .text, level: Level = .info, requests: Bool = true, requestsPerSecond: Int = 2_000) {
        self.format = format
        self.level = level
        self.requests = requests
        self.requestsPerSecond = requestsPerSecond
    }
}

/// `metrics.*`: what is counted.
public struct MetricsSettings: Sendable {
    /// Whether requests and connections are counted, for `/metrics` on the operators' listener.
    public var enabled = true

    public init() {}
}
