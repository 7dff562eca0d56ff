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
public struct LogSettings: Sendable, SettingsSection {
    /// The format of log lines: the setting `log.format`.
    public enum Format: String, SettingValue, CaseIterable {
        /// A text line such as `2026-11-21T09:00:00.000Z info request route=/feed …`.
        case text
        /// A JSON object per line.
        case json
    }

    /// The lowest level that is written: the setting `log.level`.
    public enum Level: String, SettingValue, CaseIterable {
        /// The levels of swift-log, from the most detailed to the most severe.
        case trace, debug, info, notice, warning, error, critical
    }

    @Setting("log.format", "text or json.", .reload)
    public var format = Format.text
    @Setting("log.level", "The lowest level of lines: trace, debug, info, notice, warning, error or critical.", .reload)
    public var level = Level.info
    @Setting(
        "log.requests",
        "Logs a line for each request, at level info. Never its query, its fields, or a whole address (see events.address).", .reload)
    public var requests = true
    @Setting(
        "log.requests-per-second",
        "Requests with a line within a second. One line counts the others, so that a flood cannot fill the disk.", .reload,
        in: 1...1_000_000_000)
    public var requestsPerSecond = 2_000
}

/// The settings `metrics.*`.
public struct MetricsSettings: Sendable, SettingsSection {
    @Setting("metrics.enabled", "Counts requests and connections for /metrics on the admin listener.")
    public var isEnabled = true
}
