/// Everything that can be set, with its default. `Config/intertwine.yaml` comments each key; flags and environment beat the file.
public struct ServiceConfiguration: Sendable {
    public var server: ServerSettings
    public var admin: AdminSettings
    public var store: StoreSettings
    public var ledger: LedgerSettings
    public var feed: FeedSettings
    public var actions: ActionSettings
    public var events: EventSettings
    public var images: ImageSettings
    public var sources: SourceSettings
    public var viewer: ViewerSettings
    public var crossOrigin: CrossOriginSettings
    public var signing: SigningSettings
    public var log: LogSettings
    public var metrics: MetricsSettings
    /// Every setting as it is in force, in the order of the file.
    public var settings: [Setting]

    /// - Throws: ``ConfigurationError`` for the first key that is unknown or has a value that is not allowed.
    public init(_ sources: SettingSources) throws {
        var reader = SettingsReader(sources)
        server = try ServerSettings(&reader)
        admin = try AdminSettings(&reader)
        store = try StoreSettings(&reader)
        ledger = try LedgerSettings(&reader)
        feed = try FeedSettings(&reader)
        actions = try ActionSettings(&reader)
        events = try EventSettings(&reader)
        images = try ImageSettings(&reader)
        self.sources = try SourceSettings(&reader)
        viewer = try ViewerSettings(&reader)
        crossOrigin = try CrossOriginSettings(&reader)
        signing = try SigningSettings(&reader)
        log = try LogSettings(&reader)
        metrics = try MetricsSettings(&reader)
        try reader.finish()
        settings = reader.settings
    }
}
