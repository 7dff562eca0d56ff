public import IntertwineAds
public import IntertwineCells
public import IntertwineDeclarations

/// The settings `feed.*`, `ads.*` and `cells.*` of pages.
public struct FeedSettings: Sendable {
    public enum AdScope: String, Sendable, CaseIterable {
        /// Each page has its own ads: midpoint and numbers apply to one page.
        case page
        /// Midpoint and numbers apply to the whole feed. At its midpoint, every ad is shown once.
        case feed
    }

    public enum AdStart: String, Sendable, CaseIterable {
        /// The first ad changes with each viewer and each hour.
        case fair
        /// Every pagination begins with the first listed ad.
        case listed
    }

    /// The memory limit of the page cache.
    public var pageCache: ByteCount = .mebibytes(32)
    /// The memory limit of the cache of rendered cells, which pages are assembled from.
    public var cellCache = CellCacheSize.automatic
    /// The maximum staleness: the time after its creation in which a page is served despite later changes; zero disables it.
    public var maxStaleness: Duration = .zero
    /// The freshness lifetime of a page in clients and shared caches.
    public var maxAge: Duration = .zero
    public var adsPerPage = 1
    public var adScope = AdScope.page
    public var adPlacement = PlacementRule.midpoint
    public var adRotation = AdStart.fair
    /// The minimum distance of the impressions of one ad, and of campaigns with one label, in a pagination session.
    package var adSpacing = AdSpacing()
    /// The viewability thresholds of ads by type; clients receive them.
    public var imageViewability = Viewability()
    public var videoViewability = Viewability(share: 0.5, seconds: 2)
    public var audioViewability = Viewability()
    public var videoCell = MediaCell.video
    public var audioCell = MediaCell.audio
    public var regularUserCell = UserCell.snapshot
    public var featuredUserCell = UserCell.circular

    public init() {}
}

/// The settings `actions.*`: the commands of a cell's actions, in order.
public struct ActionSettings: Sendable {
    public var userSelection = ["analytics", "present"]
    public var userDismissal = ["analytics", "dismiss"]
    public var adSelection = ["analytics", "clickthrough"]
    public var adDismissal = ["analytics", "dismiss"]
    /// The behaviour of a macro command after one of its commands fails.
    public var onFailure = FailurePolicy.stop
    /// The time in which a selection can be undone.
    public var undoWindow: Duration = .seconds(600)

    public init() {}
}

/// The settings `events.*`: the counting rules of clicks, selections and impressions, and the stored data about clients.
public struct EventSettings: Sendable {
    public enum Address: String, Sendable, CaseIterable {
        /// The first 24 bits of an IPv4 address, the first 48 of an IPv6 one.
        case truncated
        /// A keyed hash whose key changes every day.
        case hashed
        /// No data of the address.
        case none
    }

    public enum CountedClicks: String, Sendable, CaseIterable {
        case all
        /// Clicks after an impression of that ad on that page by the same viewer or address.
        case seen
    }

    public var countedClicks = CountedClicks.all
    public var address = Address.truncated
    /// The time in which a second click on an ad by one viewer, or by one address and user agent, is a duplicate.
    public var clickWindow: Duration = .seconds(60)
    /// The maximum number of counted clicks per minute of a viewer and of an address.
    public var clickRate = 30
    /// The maximum number of counted impressions per minute of a viewer and of an address.
    public var impressionRate = 3_000
    /// The validity of a click or impression token. An expired click token still redirects.
    public var tokenLifetime: Duration = .seconds(86_400)
    /// A Boolean value indicating whether responses contain the verdict in `X-Verdict`.
    public var reportsVerdict = false

    public init() {}
}

/// The settings `kinds.*` of the file that declares kinds of item, sections and feeds.
public struct KindSettings: Sendable {
    /// The path of the file; empty for none.
    public var file = ""

    public init() {}
}

/// The settings `campaigns.*` of campaigns and of the file that declares them.
public struct CampaignSettings: Sendable {
    /// The path of the file; empty for none. The store may contain further campaigns.
    public var file = ""
    /// The time for which a reserved ad slot of a campaign counts as delivered without a reported impression.
    public var reservationTimeout: Duration = .seconds(300)

    public init() {}
}
