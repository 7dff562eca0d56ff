public import IntertwineFeed

/// The settings `feed.*`, `ads.*` and `cells.*` of pages.
///
/// ```swift
/// var feed = FeedSettings()
/// feed.adsPerPage = 2
/// feed.adPlacement = .every(5, offset: 2)
/// feed.maxAge = .seconds(30)
/// ```
public struct FeedSettings: Sendable {
    /// The range in which the numbers of `at` are counted (`ads.scope`).
    public enum AdScope: String, Sendable, CaseIterable {
        /// The numbers apply to each page.
        case page
        /// The numbers apply to the whole feed.
        case feed
    }

    /// The first ad of a pagination (`ads.rotation`).
    public enum AdStart: String, Sendable, CaseIterable {
        /// The first ad changes with each viewer and each hour.
        case fair
        /// Every pagination begins with the first listed ad.
        case listed
    }

    /// The memory limit of the page cache (`feed.page-cache`).
    ///
    /// The default is ``CacheSize/automatic``: a 32nd of the memory that the process may use, from 16 MiB to 256 MiB.
    public var pageCache = CacheSize.automatic
    /// The memory limit of the cache of rendered cells (`feed.cell-cache`). Pages are assembled from these cells.
    ///
    /// The default is ``CacheSize/automatic``: a sixteenth of the memory that the process may use, from 32 MiB to 1 GiB.
    public var cellCache = CacheSize.automatic
    /// The time after its creation in which a page is served despite later changes (`feed.max-staleness`).
    ///
    /// The range is 0 s to 1 h. The default of zero disables it, so that pages are always current.
    public var maxStaleness: Duration = .zero
    /// The freshness lifetime of a page in clients and shared caches (`feed.max-age`), as `Cache-Control: max-age` states it. The default
    /// is zero.
    public var maxAge: Duration = .zero
    /// The number of ads on a page (`ads.per-page`), from 0 to 20. The default is 1.
    ///
    /// With a placement other than `midpoint`, only the value 0 has an effect: no ads.
    public var adsPerPage = 1
    /// The range in which the numbers of the placement `at` are counted (`ads.scope`). The default is ``AdScope/page``.
    public var adScope = AdScope.page
    /// The rule for the positions of ad slots (`ads.placement`). The default is one position in the middle.
    public var adPlacement = PlacementRule.midpoint
    /// The first ad of a pagination (`ads.rotation`). The default is ``AdStart/fair``.
    public var adRotation = AdStart.fair
    package var adSpacing = AdSpacing()
    /// The viewability threshold of image ads, which clients receive (`ads.viewability.image`).
    ///
    /// The default is half of the area for one second: `50% 1s`.
    public var imageViewability = Viewability()
    /// The viewability threshold of video ads (`ads.viewability.video`). The default is half of the area for two seconds: `50% 2s`.
    public var videoViewability = Viewability(share: 0.5, seconds: 2)
    /// The viewability threshold of audio ads (`ads.viewability.audio`). The default is half of the area for one second: `50% 1s`.
    public var audioViewability = Viewability()
    /// The identifiers and the size of cells with a video ad (`cells.ad.video.*`), in points. The default size is 320 × 180.
    public var videoCell = MediaCell.video
    /// The identifiers and the size of cells with an audio ad (`cells.ad.audio.*`), in points. The default size is 300 × 100.
    public var audioCell = MediaCell.audio
    /// The cell of a regular user (`cells.user.regular`). The default is `UserSnapshotCollectionViewCell`.
    public var regularUserCell = UserCell.snapshot
    /// The cell of a featured user (`cells.user.featured`). The default is `CircularUserCollectionViewCell`.
    public var featuredUserCell = UserCell.circular

    /// Creates settings with the default values.
    public init() {}
}

/// The settings `actions.*`: the commands of a cell's actions, in order.
///
/// ```swift
/// var actions = ActionSettings()
/// actions.userSelection = ["analytics", "save", "present"]
/// actions.undoWindow = .seconds(60)
/// ```
public struct ActionSettings: Sendable {
    /// The commands of the selection of a user (`actions.user.selection`), in order. The default is `analytics`, `present`.
    public var userSelection = ["analytics", "present"]
    /// The commands of the dismissal of a user (`actions.user.dismissal`), in order. The default is `analytics`, `dismiss`.
    public var userDismissal = ["analytics", "dismiss"]
    /// The commands of the selection of an ad (`actions.ad.selection`), in order. The default is `analytics`, `clickthrough`.
    public var adSelection = ["analytics", "clickthrough"]
    /// The commands of the dismissal of an ad (`actions.ad.dismissal`), in order. The default is `analytics`, `dismiss`.
    public var adDismissal = ["analytics", "dismiss"]
    /// The behaviour of a macro command after one of its commands fails (`actions.on-failure`). The default is `stop`.
    public var onFailure = FailurePolicy.stop
    /// The time in which a selection can be undone (`actions.undo-window`). The default is 10 min; with zero, no undo is offered.
    public var undoWindow: Duration = .seconds(600)

    /// Creates settings with the default values.
    public init() {}
}

/// The settings `events.*`: the counting rules of clicks, selections and impressions, and the stored data about clients.
///
/// ```swift
/// var events = EventSettings()
/// events.address = .none
/// events.countedClicks = .seen
/// events.clickWindow = .seconds(30)
/// ```
public struct EventSettings: Sendable {
    /// The form in which the ledger stores the address of a client (`events.address`).
    public enum Address: String, Sendable, CaseIterable {
        /// The first 24 bits of an IPv4 address, the first 48 of an IPv6 one.
        case truncated
        /// A keyed hash whose key changes every day.
        case hashed
        /// No data of the address.
        case none
    }

    /// The clicks on ads that count (`ads.count-clicks`).
    public enum CountedClicks: String, Sendable, CaseIterable {
        /// Each click, except clicks of robots, repeated clicks, and clicks beyond the rate limit.
        case all
        /// Clicks after an impression of that ad on that page by the same viewer or address.
        case seen
    }

    /// The clicks on ads that count (`ads.count-clicks`). The default is ``CountedClicks/all``.
    public var countedClicks = CountedClicks.all
    /// The stored form of an address (`events.address`). The default is ``Address/truncated``.
    ///
    /// Deduplication and rate limits use a keyed hash of the whole address with every value. The hash is removed when it expires.
    public var address = Address.truncated
    /// The time in which a second click on an ad by one viewer, or by one address and user agent, is a duplicate (`events.click-window`).
    ///
    /// The default is 60 s.
    public var clickWindow: Duration = .seconds(60)
    /// The maximum number of counted clicks per minute of a viewer and of an address (`events.click-rate`).
    ///
    /// The range is 1 to 1 000 000. The default is 30.
    public var clickRate = 30
    /// The maximum number of counted impressions per minute of a viewer and of an address (`events.impression-rate`).
    ///
    /// The range is 1 to 1 000 000. The default is 3 000.
    public var impressionRate = 3_000
    /// The validity of a click or impression token (`events.token-lifetime`), at least 1 h. An expired click token still redirects.
    ///
    /// The default is one day.
    public var tokenLifetime: Duration = .seconds(86_400)
    /// The file with further names of robots, or of people, in the field `User-Agent` (`events.robots-file`). It is empty by default: the built-in
    /// names apply.
    public var robotsFile = ""
    /// True if responses contain the verdict in `X-Verdict` (`events.report-verdict`). The default is false.
    public var reportsVerdict = false

    /// Creates settings with the default values.
    public init() {}
}

/// The settings `kinds.*` of the file that declares kinds of item, sections and feeds.
public struct KindSettings: Sendable {
    /// The path of the file; empty for none.
    public var file = ""

    /// Creates settings with the default values.
    public init() {}
}

/// The settings `campaigns.*` of campaigns and of the file that declares them.
public struct CampaignSettings: Sendable {
    /// The path of the file; empty for none. The store may contain further campaigns.
    public var file = ""
    /// The time for which a reserved ad slot of a campaign counts as delivered without a reported impression.
    public var reservationTimeout: Duration = .seconds(300)

    /// Creates settings with the default values.
    public init() {}
}
