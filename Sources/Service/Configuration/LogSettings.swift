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

    init(_ reader: inout SettingsReader) throws {
        format = try reader.read("log.format", default: Format.text)
        level = try reader.read("log.level", default: Level.info)
        requests = try reader.read("log.requests", default: true)
        requestsPerSecond = try reader.read("log.requests-per-second", default: 2_000, in: 1...1_000_000_000)
    }
}
