internal import IntertwineObservability

// How the settings of the rooms below are read: what they are stands with whoever goes by them.

extension LogSettings {
    mutating func read(_ reader: inout SettingsReader) {
        reader.read("log.format", &format)
        reader.read("log.level", &level)
        reader.read("log.requests", &requests)
        reader.read("log.requests-per-second", &requestsPerSecond, in: 1...1_000_000_000)
    }
}

extension MetricsSettings {
    mutating func read(_ reader: inout SettingsReader) {
        reader.read("metrics.enabled", &enabled)
    }
}
