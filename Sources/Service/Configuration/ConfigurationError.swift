/// A configuration that the service refuses to start with. The description is one line that names the key and what is allowed.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    public var description: String

    public init(_ description: String) {
        self.description = description
    }

    static func invalid(_ key: String, _ value: String, from origin: SettingOrigin, allowed: String) -> ConfigurationError {
        ConfigurationError("\(key): '\(value)' (\(origin)) is not allowed; allowed: \(allowed)")
    }

    static func unknown(_ key: String, from origin: SettingOrigin, known: [String]) -> ConfigurationError {
        ConfigurationError("\(key): unknown key (\(origin)); known keys: \(known.joined(separator: ", "))")
    }
}
