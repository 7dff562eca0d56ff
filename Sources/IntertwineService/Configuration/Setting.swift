/// One setting as it is in force, for `check-config` and for the log line at the start.
public struct Setting: Sendable, Hashable {
    public var key: String
    public var value: String
    public var origin: SettingOrigin
    public var isSecret: Bool

    /// The value, or what stands for it where it must not be shown.
    public var shown: String {
        isSecret && !value.isEmpty ? "(secret)" : value
    }
}

/// Where a setting's value came from, strongest first.
public enum SettingOrigin: Sendable, Hashable, CustomStringConvertible {
    case flag
    case environment
    case file(String)
    /// The program that embeds the service.
    case program
    case `default`

    public var description: String {
        switch self {
        case .flag: "flag"
        case .environment: "environment"
        case .file(let path): path
        case .program: "program"
        case .default: "default"
        }
    }
}
