/// `metrics.*`: what is counted.
public struct MetricsSettings: Sendable {
    /// Whether requests and connections are counted, for `/metrics` on the operators' listener.
    public var enabled: Bool

    init(_ reader: inout SettingsReader) throws {
        enabled = try reader.read("metrics.enabled", default: true)
    }
}
