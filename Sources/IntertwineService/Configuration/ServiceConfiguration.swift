/// All settings with their defaults. `Config/intertwine.yaml` describes each key.
///
/// A program that embeds the service sets properties; nothing is read from other sources:
///
/// ```swift
/// var configuration = ServiceConfiguration()
/// configuration.server.port = 8080
/// ```
///
/// The command line reads settings from flags, the environment and a file, in this order of precedence: see ``init(_:)``.
public struct ServiceConfiguration: Sendable {
    /// The public listener. The settings `server.*` and `limits.*`.
    public var server = ServerSettings()
    /// The admin listener. The settings `admin.*`.
    public var admin = AdminSettings()
    /// The store of the items. The settings `store.*`.
    public var store = StoreSettings()
    /// The ledger of events and lists. The settings `ledger.*`.
    public var ledger = LedgerSettings()
    /// Declared kinds. The settings `kinds.*`.
    public var kinds = KindSettings()
    /// The identity of viewers. The settings `viewers.*`.
    public var viewers = ViewerSettings()
    /// Pages. The settings `feed.*`, `ads.*` and `cells.*`.
    public var feed = FeedSettings()
    /// Campaigns. The settings `campaigns.*`.
    public var campaigns = CampaignSettings()
    /// The commands of the built-in cells. The settings `actions.*`.
    public var actions = ActionSettings()
    /// Counting and privacy. The settings `events.*`.
    public var events = EventSettings()
    /// The image proxy. The settings `images.*`.
    public var images = ImageSettings()
    /// Remote sources of items. The settings `sources.*`.
    public var sources = SourceSettings()
    /// Trackers of third parties. The settings `trackers.*`.
    public var trackers = TrackerSettings()
    /// The web client. The settings `web-client.*`.
    public var webClient = WebClientSettings()
    /// Pages of other origins. The settings `cors.*`.
    public var crossOrigin = CORSSettings()
    /// The signing keys. The settings `signing.*`.
    public var signing = SigningSettings()
    /// The log. The settings `log.*`.
    public var log = LogSettings()
    /// Metrics. The settings `metrics.*`.
    public var metrics = MetricsSettings()
    var origins: [String: SettingOrigin] = [:]

    /// Creates the defaults.
    public init() {}

    /// Reads the settings of the given sources.
    ///
    /// - Throws: `ConfigurationError` with all unknown keys and all invalid values.
    public init(_ sources: SettingSources) throws(ConfigurationError) {
        let (configuration, faults) = Self.read(sources)
        if let faults { throw faults }
        self = configuration
    }

    static func read(_ sources: SettingSources) -> (configuration: ServiceConfiguration, faults: ConfigurationError?) {
        var configuration = ServiceConfiguration()
        var reader = SettingsReader(sources)
        configuration.visit(&reader)
        reader.finish()
        configuration.images.bucketCredentials = sources.bucketCredentials
        for setting in reader.settings { configuration.origins[setting.key] = setting.origin }
        return (configuration, ConfigurationError(reader.errors.reasons))
    }

    /// Checks values that a program has set with the rules for values that are read.
    ///
    /// ```swift
    /// var configuration = ServiceConfiguration()
    /// configuration.store.readers = 100
    /// try configuration.validate()  // Throws, because the maximum is 64.
    /// ```
    ///
    /// - Throws: `ConfigurationError` with all invalid values.
    public func validate() throws(ConfigurationError) {
        try walked.errors.finish()
    }

    package var settings: [Setting] {
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
        reader.read("server.data-folder", &store.dataFolder, allowed: "a folder's path", where: { !$0.isEmpty })
        admin.read(&reader)
        store.read(&reader)
        ledger.read(&reader)
        kinds.read(&reader)
        viewers.read(&reader)
        feed.read(&reader)
        campaigns.read(&reader)
        actions.read(&reader)
        events.read(&reader)
        images.read(&reader)
        sources.read(&reader)
        trackers.read(&reader)
        webClient.read(&reader)
        crossOrigin.read(&reader)
        signing.read(&reader)
        log.read(&reader)
        metrics.read(&reader)
    }
}
