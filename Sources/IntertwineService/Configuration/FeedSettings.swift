public import IntertwineFeed

/// The settings `feed.*`, `ads.*` and `cells.*` of pages.
public struct FeedSettings: Sendable, SettingsSection {
    /// The range in which the numbers of `at` are counted (`ads.scope`).
    public enum AdScope: String, SettingValue, CaseIterable {
        /// The numbers apply to each page.
        case page
        /// The numbers apply to the whole feed.
        case feed
    }

    /// The first ad of a pagination (`ads.rotation`).
    public enum AdStart: String, SettingValue, CaseIterable {
        /// The first ad changes with each viewer and each hour.
        case fair
        /// Every pagination begins with the first listed ad.
        case listed
    }

    @Setting(
        "feed.page-cache",
        """
        Bytes of the page cache in memory. auto is a 32nd of the memory available to the process (the machine's, or the limit of its \
        control group), 16MiB to 256MiB.
        """, .reload)
    public var pageCache = CacheSize.automatic
    @Setting(
        "feed.cell-cache",
        """
        Bytes of the cell cache in memory, some thousand cells for each MiB. Pages are assembled from these cells. auto is a sixteenth of \
        the memory available to the process, 32MiB to 1GiB.
        """, .reload)
    public var cellCache = CacheSize.automatic
    @Setting(
        "feed.max-staleness",
        "Maximum time for which a cached page is served although something was written after it was made; 0ms: pages are always current.",
        .reload, in: .zero ... .seconds(3_600))
    public var maxStaleness: Duration = .zero
    @Setting(
        "feed.max-age", "Time for which clients and shared caches may use a page without revalidation (Cache-Control: max-age).", .reload)
    public var maxAge: Duration = .zero
    @Setting(
        "feed.ranker-timeout", "Time limit of a request to the ranker of a feed (ranked-by). The feed's own order is shown beyond it.",
        .reload,
        in: .milliseconds(1) ... .seconds(10))
    public var rankerTimeout: Duration = .milliseconds(300)
    @Setting(
        "feed.ranker-requests", "Requests to rankers in progress. Beyond it, the feed's own order is shown at once.", .reload,
        in: 1...10_000)
    public var rankerRequests = 64
    @Setting("ads.per-page", "Ads on a page; they rotate from page to page.", .reload, in: 0...20)
    public var adsPerPage = 1
    @Setting(
        "ads.placement",
        """
        Positions of ad slots.
        midpoint: in the middle.
        'every 5' (or 'every 5 offset 2'): after every five items of the feed, one ad each.
        'at 2, 7': one before the items with these numbers, from 0.
        pinned: each at its position in the import.
        Except for midpoint, per-page is used only if it is 0.
        """, .reload)
    public var adPlacement = PlacementRule.midpoint
    @Setting("ads.scope", "page: the numbers of 'at' refer to each page. feed: they refer to the whole feed.", .reload)
    public var adScope = AdScope.page
    @Setting(
        "ads.rotation",
        """
        fair: each viewer begins with another ad, and each hour with the next one, so that all ads are shown equally often. listed: \
        pagination of the feed always begins with the first ad.
        """, .reload)
    public var adRotation = AdStart.fair
    @Setting(
        "ads.min-distance",
        """
        Content items between two showings of one ad, house ads and campaigns' alike. They are counted over the successive pages of a \
        client, for all limits. An ad slot stays empty if every ad was shown too recently.
        """, .reload, in: AdSpacing.limits.creative)
    package var minDistance = 1
    @Setting(
        "ads.min-label-distance", "Content items between two showings of campaigns with one label, counted in the same way.", .reload,
        in: AdSpacing.limits.label)
    package var minLabelDistance = 20
    @Setting("ads.viewability.image", "Of image ads.", .reload)
    public var imageViewability = Viewability()
    @Setting("ads.viewability.video", "Of video ads.", .reload)
    public var videoViewability = Viewability(share: 0.5, seconds: 2)
    @Setting("ads.viewability.audio", "Of audio ads.", .reload)
    public var audioViewability = Viewability()
    /// The identifiers and the size of cells with a video ad (`cells.ad.video.*`).
    public var videoCell = MediaCellSettings("cells.ad.video", .video)
    /// The identifiers and the size of cells with an audio ad (`cells.ad.audio.*`).
    public var audioCell = MediaCellSettings("cells.ad.audio", .audio)
    @Setting("cells.user.regular", "Cell of a regular user.", .reload)
    public var regularUserCell = UserCell.snapshot
    @Setting("cells.user.featured", "Cell of a featured user.", .reload)
    public var featuredUserCell = UserCell.circular

    package var adSpacing: AdSpacing { AdSpacing(creative: minDistance, label: minLabelDistance) }

    var pageCacheBytes: Int { pageCache.bytes(of: 32, in: 16 << 20...256 << 20) }
    var cellCacheBytes: Int { cellCache.bytes(of: 16, in: 32 << 20...1 << 30) }

    var placement: any AdPlacement {
        adPlacement.placement(perPage: adsPerPage, isOfFeed: adScope == .feed)
    }

    func with(_ ads: DeclaredAds?) -> FeedSettings {
        guard let ads else { return self }
        var settings = self
        settings.adPlacement = ads.rule ?? adPlacement
        settings.adsPerPage = ads.perPage ?? adsPerPage
        settings.adScope = ads.isOfFeed.map { $0 ? .feed : .page } ?? adScope
        return settings
    }
}

extension UserCell: SettingValue {}
extension FailurePolicy: SettingValue {}

/// The identifiers and the size of cells that play media, in points.
public struct MediaCellSettings: Sendable, SettingsSection {
    @Setting public var identifier: String
    @Setting public var tableIdentifier: String
    @Setting public var width: Int
    @Setting public var height: Int
    @Setting public var tableHeight: Int

    init(_ section: String, _ cell: MediaCell) {
        let isIdentifier: @Sendable (String) -> Bool = { (1...128).contains($0.utf8.count) }
        _identifier = Setting(
            wrappedValue: cell.identifier, "\(section).identifier", "Reuse identifier in the layout collection.", .reload,
            allowed: "1 to 128 bytes", where: isIdentifier)
        _tableIdentifier = Setting(
            wrappedValue: cell.tableIdentifier, "\(section).table-identifier", "Reuse identifier in the layout table.", .reload,
            allowed: "1 to 128 bytes", where: isIdentifier)
        _width = Setting(wrappedValue: cell.width, "\(section).width", "Width for clients that do not send theirs.", .reload, in: 1...4_096)
        _height = Setting(wrappedValue: cell.height, "\(section).height", "Height that belongs to this width.", .reload, in: 1...4_096)
        _tableHeight = Setting(
            wrappedValue: cell.tableHeight, "\(section).table-height", "Height of the table row.", .reload, in: 1...4_096)
    }

    var cell: MediaCell {
        MediaCell(identifier: identifier, tableIdentifier: tableIdentifier, width: width, height: height, tableHeight: tableHeight)
    }
}

/// The settings `actions.*`: the commands of a cell's actions, in order.
public struct ActionSettings: Sendable, SettingsSection {
    @Setting("actions.user.selection", "Commands of the selection of a user.", .reload)
    public var userSelection = ["analytics", "present"]
    @Setting("actions.user.dismissal", "Commands of the dismissal of a user.", .reload)
    public var userDismissal = ["analytics", "dismiss"]
    @Setting("actions.ad.selection", "Commands of the selection of an ad.", .reload)
    public var adSelection = ["analytics", "clickthrough"]
    @Setting("actions.ad.dismissal", "Commands of the dismissal of an ad.", .reload)
    public var adDismissal = ["analytics", "dismiss"]
    @Setting(
        "actions.on-failure",
        "Behaviour if one of several commands fails. stop: run no more. continue: run the rest. compensate: undo the commands done, in reverse.",
        .reload)
    public var onFailure = FailurePolicy.stop
    @Setting("actions.undo-window", "Time in which a selection can be undone; with 0ms no undo is offered.", .reload)
    public var undoWindow: Duration = .seconds(600)
}

/// The settings `events.*`: the counting rules of clicks, selections and impressions, and the stored data about clients.
public struct EventSettings: Sendable, SettingsSection {
    /// The form in which the ledger stores the address of a client (`events.address`).
    public enum Address: String, SettingValue, CaseIterable {
        /// The first 24 bits of an IPv4 address, the first 48 of an IPv6 one.
        case truncated
        /// A keyed hash whose key changes every day.
        case hashed
        /// No data of the address.
        case none
    }

    /// The clicks on ads that count (`ads.count-clicks`).
    public enum CountedClicks: String, SettingValue, CaseIterable {
        /// Each click, except clicks of robots, repeated clicks, and clicks beyond the rate limit.
        case all
        /// Clicks after an impression of that ad on that page. On pages that viewers share, the same viewer or address must have reported it.
        case seen
    }

    @Setting(
        "ads.count-clicks",
        """
        Clicks on ads that count. seen: the clicks after an impression of the same ad on the same page. On pages that viewers share, it must \
        be by the same viewer or address. all: each click that is not of a robot, repeated or beyond the rate.
        """, .reload)
    public var countedClicks = CountedClicks.seen
    @Setting(
        "ads.clicks-per-campaign", "Counted clicks a minute on the ads of one campaign. Clicks beyond it are `limited`.", .reload,
        in: 1...1_000_000_000)
    public var clicksPerCampaign = 1_200
    // Addresses that are stored in one form must not be stored in another one while the service runs.
    @Setting(
        "events.address",
        """
        Stored form of an address. truncated: /24 or /48. hashed: a keyed hash whose key changes daily. none: nothing.
        Deduplication and rates always use such a hash of the whole address (of IPv6 the network, /64); it is removed when it expires.
        """)
    public var address = Address.truncated
    @Setting(
        "events.click-window",
        "A repeated click within it is a duplicate: of the same viewer, or of the same address and user agent if either click named no viewer.",
        .reload)
    public var clickWindow: Duration = .seconds(60)
    @Setting(
        "events.click-rate",
        """
        Counted clicks a minute, per viewer and per address, for all user agents. An IPv6 network of 56 bits may have twice as many, one of \
        48 bits four times as many.
        """, .reload, in: 1...1_000_000)
    public var clickRate = 30
    @Setting(
        "events.impression-rate",
        """
        Counted impressions a minute, per viewer and per address, for all user agents. Each token counts once for a viewer. Without a \
        viewer, it counts once for an address: a page view.
        """, .reload, in: 1...1_000_000)
    public var impressionRate = 3_000
    @Setting(
        "events.token-lifetime", "Time for which a click or impression token counts. An expired one still redirects.", .reload,
        allowed: "\(Duration.allowed), at least 1h", where: { $0 >= .seconds(3_600) })
    public var tokenLifetime: Duration = .seconds(86_400)
    @Setting(
        "events.robots-file",
        """
        A file with further names of robots in the field User-Agent, one a line; after an exclamation mark, a name of people; !* removes \
        the built-in names.
        """, .reload, allowed: "a file's path")
    public var robotsFile = ""
    @Setting("events.report-verdict", "Adds the verdict to responses as X-Verdict.", .reload)
    public var reportsVerdict = false
}

/// The settings `kinds.*` of the file that declares kinds of item, sections and feeds.
public struct KindSettings: Sendable, SettingsSection {
    // It is read at the start only, because items were imported by its rules.
    @Setting(
        "kinds.file",
        "File that declares kinds of items besides users and ads, sections and feeds, such as Config/kinds.yaml; empty for none.",
        allowed: "a file's path")
    public var file = ""
}

/// The settings `campaigns.*` of campaigns and of the file that declares them.
public struct CampaignSettings: Sendable, SettingsSection {
    @Setting(
        "campaigns.file",
        "File that declares campaigns, such as Config/campaigns.yaml; empty for none. The store may contain others. Read again on SIGHUP.",
        .reload, allowed: "a file's path")
    public var file = ""
}

extension ServiceConfiguration {
    var cells: CellConfiguration {
        var cells = CellConfiguration(hasViewers: viewers.canBeNamed)
        cells.userCells = [.regular: feed.regularUserCell, .featured: feed.featuredUserCell]
        cells.mediaCells = [.video: feed.videoCell.cell, .audio: feed.audioCell.cell]
        cells.viewability = [.image: feed.imageViewability, .video: feed.videoViewability, .audio: feed.audioViewability]
        cells.userCommands[.selection] = SlotCommands(actions.userSelection, policy: actions.onFailure)
        cells.userCommands[.dismissal] = SlotCommands(actions.userDismissal, policy: actions.onFailure)
        cells.advertisementCommands[.selection] = SlotCommands(actions.adSelection, policy: actions.onFailure)
        cells.advertisementCommands[.dismissal] = SlotCommands(actions.adDismissal, policy: actions.onFailure)
        return cells
    }
}
