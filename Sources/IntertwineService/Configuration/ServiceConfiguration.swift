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
public struct ServiceConfiguration: Sendable, SettingsSection {
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
        let reading = SettingsReading { (key, isList) throws(ConfigurationError) in try sources.texts(SettingName(key), isList: isList) }
        var configuration = SettingsReading.$current.withValue(reading) { ServiceConfiguration() }
        configuration.images.bucketCredentials = sources.bucketCredentials
        var errors = ErrorCollector()
        errors.reasons = reading.reasons + configuration.faults
        errors.collect {
            try sources.refuseUnknown(besides: configuration.settings.map { SettingName($0.key) })
        }
        return (configuration, ConfigurationError(errors.reasons))
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
        if let error = ConfigurationError(settings.flatMap { $0.fault?.reasons ?? [] } + faults) { throw error }
    }

    func applying(_ updated: ServiceConfiguration) -> ServiceConfiguration {
        let kept = settings.filter { !$0.isReloaded } + updated.settings.filter(\.isReloaded)
        var next = SettingsReading.$current.withValue(SettingsReading(keeping: kept)) { ServiceConfiguration() }
        (next.images.bucketCredentials, next.store.acceptsDataLoss) = (images.bucketCredentials, store.acceptsDataLoss)
        return next
    }

    package var settings: [ListedSetting] { rows.bySection }

    package static let sectionTexts = [
        "limits": "Limits for one client. Beyond a limit the response has the status in brackets.",
        "admin": "The admin listener.",
        "admin.jwt":
            "Operators by JSON Web Tokens, as \"Authorization: Bearer …\", if keys-file or jwks-url is set. admin.token is accepted beside them.",
        "viewers":
            "Request fields with data about the viewer. The authenticating proxy in front of the service sets them, and strips them from clients.",
        "viewers.jwt": "Viewers by JSON Web Tokens, as \"Authorization: Bearer …\", if keys-file or jwks-url is set.",
        "ads.viewability":
            "Viewability by type of ad: the visible share and its duration; for video and audio, during playback. Clients receive these values.",
        "cells":
            "Cell of each type of user: UserSnapshotCollectionViewCell or CircularUserCollectionViewCell. Identifiers and sizes of video and "
            + "audio ads, in points.",
        "actions": "Commands that an action runs, in order: analytics, present, clickthrough, dismiss, save, restore, unsave.",
        "events": "Judgement of clicks, selections and impressions, and the data stored about their clients.",
        "images": "The image proxy: it fetches every image that a cell shows.",
        "sources": "JSON APIs with which the store is synchronized. Changes need a restart.",
        "trackers":
            "Trackers (webhooks): URLs of third parties that are called after impressions and clicks of ads. The permitted addresses are those of "
            + "images, on any host.",
        "web-client": "The web client: the page at / that shows the feed in a browser.",
        "cors":
            "Origins of web pages that may call the service from a browser (CORS). POST, PUT and DELETE from all others are 403.",
        "signing":
            "Keys for cursors, tokens and image URLs: 64 hexadecimal digits. The environment is a better location than this file.",
        "log": "Lines on standard error. Changed while running by SIGHUP, or by saving this file.",
    ]
}
