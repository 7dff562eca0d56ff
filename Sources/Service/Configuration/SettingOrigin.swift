/// Where a setting's value came from, strongest first.
public enum SettingOrigin: Sendable, Hashable, CustomStringConvertible {
    case flag
    case environment
    case file(String)
    case `default`

    public var description: String {
        switch self {
        case .flag: "flag"
        case .environment: "environment"
        case .file(let path): path
        case .default: "default"
        }
    }
}
