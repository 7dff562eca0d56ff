public import IntertwineDeclarations
public import IntertwineObservability
public import IntertwineOperators
public import IntertwineSync
public import IntertwineTrackers
public import IntertwineViewer

/// Everything that can be set, with its default. `Config/intertwine.yaml` comments each key.
///
/// A program that embeds the service sets what it wants to be otherwise, and nothing is read from anywhere:
///
///     var configuration = ServiceConfiguration()
///     configuration.server.port = 8080
///
/// The command line reads it from flags, the environment and a file, in this order: see ``init(_:)``.
public struct ServiceConfiguration: Sendable {
    public var server = ServerSettings()
    public var admin = AdminSettings()
    public var store = StoreSettings()
    public var ledger = LedgerSettings()
    public var feed = FeedSettings()
    public var actions = ActionSettings()
    public var events = EventSettings()
    public var images = ImageSettings()
    public var sources = SourceSettings()
    public var trackers = TrackerSettings()
    public var viewer = WebClientSettings()
    public var crossOrigin = CORSSettings()
    public var signing = SigningSettings()
    public var log = LogSettings()
    public var metrics = MetricsSettings()
    /// Of the values that were read, by key.
    var origins: [String: SettingOrigin] = [:]

    public init() {}

    /// Reads what is written down.
    ///
    /// - Throws: `ConfigurationError` with all keys that are unknown or have values that are not allowed.
    public init(_ sources: SettingSources) throws(ConfigurationError) {
        let (configuration, faults) = Self.read(sources)
        if let faults { throw faults }
        self = configuration
    }

    /// The same for whoever wants to look for more that is wrong: where a value cannot be taken, its default stands in for it.
    static func read(_ sources: SettingSources) -> (configuration: ServiceConfiguration, faults: ConfigurationError?) {
        var configuration = ServiceConfiguration()
        var reader = SettingsReader(sources)
        configuration.visit(&reader)
        reader.finish()
        configuration.images.bucketCredentials = sources.bucketCredentials
        for setting in reader.settings { configuration.origins[setting.key] = setting.origin }
        return (configuration, ConfigurationError(reader.errors.reasons))
    }

    /// The request fields that tell of the viewer.
    var viewerFields: [String] { [events.viewerHeader, feed.languageHeader, feed.attributesHeader].filter { !$0.isEmpty } }

    /// Checks values that a program has set, as those that are read are checked.
    ///
    /// - Throws: `ConfigurationError` with all that are not allowed.
    public func validate() throws(ConfigurationError) {
        try walked.errors.finish()
    }

    /// Every setting as it is in force, in the order of the file.
    public var settings: [Setting] {
        walked.settings.map { setting in
            var setting = setting
            setting.origin = origins[setting.key] ?? .default
            return setting
        }
    }

    private var walked: SettingsReader {
        var copy = self
        var reader = SettingsReader(nil)
        copy.visit(&reader)
        return reader
    }

    private mutating func visit(_ reader: inout SettingsReader) {
        server.read(&reader)
        admin.read(&reader)
        store.read(&reader)
        ledger.read(&reader)
        feed.read(&reader)
        actions.read(&reader)
        events.read(&reader)
        images.read(&reader)
        sources.read(&reader)
        trackers.read(&reader)
        viewer.read(&reader)
        crossOrigin.read(&reader)
        signing.read(&reader)
        log.read(&reader)
        metrics.read(&reader)
    }
}
