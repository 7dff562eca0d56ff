/// Where a running service's configuration comes from.
public struct ConfigurationSource: Sendable {
    /// The file that is watched; nil for none.
    public var file: String?
    /// Reads everything again: flags, environment, file.
    public var read: @Sendable () async throws -> ServiceConfiguration

    public init(file: String?, read: @escaping @Sendable () async throws -> ServiceConfiguration) {
        self.file = file
        self.read = read
    }
}
