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

    mutating func read(_ reader: inout SettingsReader) {
        reader.read("log.format", &format)
        reader.read("log.level", &level)
        reader.read("log.requests", &requests)
        reader.read("log.requests-per-second", &requestsPerSecond, in: 1...1_000_000_000)
    }
}

/// `metrics.*`: what is counted.
public struct MetricsSettings: Sendable {
    /// Whether requests and connections are counted, for `/metrics` on the operators' listener.
    public var enabled = true

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        reader.read("metrics.enabled", &enabled)
    }
}
