package import Logging
internal import Synchronization

package struct Telemetry: Sendable {
    package let registry: PrometheusRegistry
    package let control: LogControl
    let sink: LogSink

    package init(_ settings: LogSettings, registry: PrometheusRegistry = PrometheusRegistry(), sink: LogSink = LogSink()) {
        self.registry = registry
        self.sink = sink
        control = LogControl(settings)
    }

    package var logHandler: ServiceLogHandler {
        ServiceLogHandler(control: control, sink: sink)
    }

    package var logger: Logger {
        Logger(label: "intertwine") { _ in logHandler }
    }
}

package final class LogControl: Sendable {
    private let levelIndex: Atomic<Int>
    private let isJSON: Atomic<Bool>
    private let requests: Atomic<Bool>
    private let perSecond: Atomic<Int>

    package init(_ settings: LogSettings) {
        levelIndex = Atomic(Self.index(of: settings.level))
        isJSON = Atomic(settings.format == .json)
        requests = Atomic(settings.requests)
        perSecond = Atomic(settings.requestsPerSecond)
    }

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

    var logsRequests: Bool { requests.load(ordering: .relaxed) && levelIndex.load(ordering: .relaxed) <= Self.info }

    var requestsPerSecond: Int { perSecond.load(ordering: .relaxed) }

    private static let info = index(of: .info)

    private static func index(of level: LogSettings.Level) -> Int {
        Logger.Level.allCases.firstIndex { $0.rawValue == level.rawValue } ?? 2
    }
}

/// The settings `log.*` of log lines on standard error.
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
