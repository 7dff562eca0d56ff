public import IntertwineDeclarations

/// The memory limit of the cache of rendered cells.
///
/// As a setting: `auto`, or a number of bytes.
public enum CellCacheSize: SettingValue, Hashable {
    /// A sixteenth of the memory that the process may use, 32 MiB to 1 GiB.
    case automatic
    case bytes(ByteCount)

    public init?(setting: String) {
        if setting == "auto" {
            self = .automatic
        } else if let count = ByteCount(setting: setting) {
            self = .bytes(count)
        } else {
            return nil
        }
    }

    public var setting: String {
        switch self {
        case .automatic: "auto"
        case .bytes(let count): count.setting
        }
    }

    public static var allowed: String { "auto, or \(ByteCount.allowed)" }
}
