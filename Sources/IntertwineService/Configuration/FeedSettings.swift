public import IntertwineDeclarations
public import IntertwineFeed

/// `feed.*`, `ads.*` and `cells.*`: what a page holds.
public struct FeedSettings: Sendable {
    public enum AdScope: String, Sendable, CaseIterable {
        /// Each page has its own ads: midpoint and numbers are those of a page.
        case page
        /// Midpoint and numbers are those of the whole feed; at its midpoint, all ads stand once.
        case feed
    }

    public enum AdStart: String, Sendable, CaseIterable {
        /// Each viewer and each hour begins with another ad.
        case fair
        /// Every walk begins with the first one that was listed.
        case listed
    }

    /// Finished pages kept in memory, in bytes.
    public var cache: ByteCount = .mebibytes(32)
    /// What memory finished cells may take: pages are put together from them.
    public var cells = CellCacheSize.automatic
    /// For how long after it was made a finished page is served although something was written since; zero for never.
    public var stale: Duration = .zero
    /// How long clients and shared caches may use a page without asking again.
    public var maxAge: Duration = .zero
    /// The file that declares kinds of item besides users and advertisements, sections and feeds; empty for none.
    public var kinds = ""
    /// The request field with the viewer's language, set by whatever knows it; empty for none. It goes before `Accept-Language`.
    public var languageHeader = "X-Viewer-Language"
    public var adsPerPage = 1
    public var adScope = AdScope.page
    public var adPlacement = PlacementRule.midpoint
    public var adRotation = AdStart.fair
    /// How far apart showings of one ad, and of campaigns with one label, stand in a pagination session.
    package var adSpacing = AdSpacing()
    /// From when on an ad counts as seen, by its type; clients are told.
    public var imageViewability = Viewability()
    public var videoViewability = Viewability(share: 0.5, seconds: 2)
    public var audioViewability = Viewability()
    public var videoCell = MediaCell.video
    public var audioCell = MediaCell.audio
    /// The file that declares campaigns; empty for none. The store may have others.
    public var campaigns = ""
    /// For how long a place that was given to a campaign counts as delivered where nobody has told that it was seen.
    public var reservation: Duration = .seconds(300)
    /// The request field with attributes of the viewer, set by whatever authenticates in front of the service; empty for none.
    public var attributesHeader = ""
    public var regularUserCell = UserCell.snapshot
    public var featuredUserCell = UserCell.circular

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        reader.read("feed.cache", &cache)
        reader.read("feed.cells", &cells)
        reader.read("feed.stale", &stale, in: .zero ... .seconds(3_600))
        reader.read("feed.max-age", &maxAge)
        reader.read("feed.kinds", &kinds, allowed: "a file's path")
        reader.read("feed.language-header", &languageHeader, allowed: "a field name, or nothing", where: \.isFieldName)
        reader.read("ads.per-page", &adsPerPage, in: 0...20)
        reader.read("ads.scope", &adScope)
        reader.read("ads.placement", &adPlacement)
        reader.read("ads.rotation", &adRotation)
        reader.read("ads.min-distance", &adSpacing.creative, in: AdSpacing.limits.creative)
        reader.read("ads.label-distance", &adSpacing.label, in: AdSpacing.limits.label)
        reader.read("ads.viewable.image", &imageViewability)
        reader.read("ads.viewable.video", &videoViewability)
        reader.read("ads.viewable.audio", &audioViewability)
        Self.read("cells.advertisement.video", &videoCell, by: &reader)
        Self.read("cells.advertisement.audio", &audioCell, by: &reader)
        reader.read("ads.campaigns", &campaigns, allowed: "a file's path")
        reader.read("ads.reservation", &reservation, in: .seconds(10) ... .seconds(3_600))
        reader.read(
            "ads.attributes-header", &attributesHeader, allowed: "a field name, or nothing",
            where: { $0.utf8.allSatisfy { $0 == 0x2D || $0.isASCIIAlphanumeric } })
        reader.read("cells.user.regular", &regularUserCell)
        reader.read("cells.user.featured", &featuredUserCell)
    }

    private static func read(_ key: String, _ cell: inout MediaCell, by reader: inout SettingsReader) {
        let isIdentifier = { (text: String) in (1...128).contains(text.utf8.count) }
        reader.read("\(key).identifier", &cell.identifier, allowed: "1 to 128 bytes", where: isIdentifier)
        reader.read("\(key).table-identifier", &cell.tableIdentifier, allowed: "1 to 128 bytes", where: isIdentifier)
        reader.read("\(key).width", &cell.width, in: 1...4_096)
        reader.read("\(key).height", &cell.height, in: 1...4_096)
        reader.read("\(key).table-height", &cell.tableHeight, in: 1...4_096)
    }
}

/// `actions.*`: which commands a cell's actions run, in order.
public struct ActionSettings: Sendable {
    public var userSelection = ["analytics", "present"]
    public var userDismissal = ["analytics", "dismiss"]
    public var advertisementSelection = ["analytics", "clickthrough"]
    public var advertisementDismissal = ["analytics", "dismiss"]
    /// What a macro does when one of its commands fails.
    public var onFailure = FailurePolicy.stop
    /// How long after it a selection can be undone.
    public var undo: Duration = .seconds(600)

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        reader.read("actions.user.selection", &userSelection)
        reader.read("actions.user.dismissal", &userDismissal)
        reader.read("actions.advertisement.selection", &advertisementSelection)
        reader.read("actions.advertisement.dismissal", &advertisementDismissal)
        reader.read("actions.on-failure", &onFailure)
        reader.read("actions.undo", &undo)
    }
}

/// `events.*`: how clicks, selections and impressions are judged, and what is kept about who made them.
public struct EventSettings: Sendable {
    public enum Address: String, Sendable, CaseIterable {
        /// The first 24 bits of an IPv4 address, the first 48 of an IPv6 one.
        case truncated
        /// A keyed hash whose key changes every day.
        case hashed
        /// Nothing.
        case none
    }

    public enum CountedClicks: String, Sendable, CaseIterable {
        case all
        /// Those that came after an impression of the same ad on the same page by the same viewer or address.
        case seen
    }

    public var countedClicks = CountedClicks.all
    /// The request field that names the viewer, set by whatever authenticates in front of the service. Empty: there are no viewers.
    public var viewerHeader = "X-Viewer-ID"
    public var address = Address.truncated
    /// A second click of the same viewer, or of the same address and user agent, on the same ad within it is a duplicate.
    public var window: Duration = .seconds(60)
    /// Counted clicks per viewer and per address in a minute.
    public var rate = 30
    /// Counted impressions per viewer and per address in a minute.
    public var impressionRate = 3_000
    /// How long a click or impression token counts; an expired one still redirects.
    public var tokenLifetime: Duration = .seconds(86_400)
    /// Whether answers tell the verdict in `X-Decision`.
    public var reportsVerdict = false
    /// Whether `X-Forwarded-For` names the client; only behind a proxy that sets it.
    public var trustForwarded = false

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        reader.read(
            "events.viewer-header", &viewerHeader, allowed: "a field name that HTTP has no other use for, or nothing",
            where: \.isOwnFieldName)
        reader.read("ads.count-clicks", &countedClicks)
        reader.read("events.address", &address)
        reader.read("events.window", &window)
        reader.read("events.rate", &rate, in: 1...1_000_000)
        reader.read("events.impression-rate", &impressionRate, in: 1...1_000_000)
        reader.read(
            "events.token-lifetime", &tokenLifetime, allowed: "\(Duration.allowed), at least 1h", where: { $0 >= .seconds(3_600) })
        reader.read("events.tell-verdict", &reportsVerdict)
        reader.read("events.trust-forwarded", &trustForwarded)
    }
}

extension String {
    /// What a request's field cannot be named by which something of the viewer is told: each request has them, for other ends.
    private static let taken: Set<String> = [
        "accept", "accept-encoding", "accept-language", "connection", "content-encoding", "content-length", "content-type", "cookie",
        "date",
        "expect", "host", "if-match", "if-none-match", "if-modified-since", "if-range", "if-unmodified-since", "idempotency-key", "range",
        "te",
        "trailer", "transfer-encoding", "upgrade", "user-agent",
    ]

    /// Letters, digits and hyphens, or nothing.
    fileprivate var isFieldName: Bool { utf8.allSatisfy { $0 == 0x2D || $0.isASCIIAlphanumeric } }

    /// The same, but none of HTTP's own.
    fileprivate var isOwnFieldName: Bool { isFieldName && !Self.taken.contains(lowercased()) }
}

extension UInt8 {
    fileprivate var isASCIIAlphanumeric: Bool {
        (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
    }
}

extension FeedSettings {
    var placement: any AdPlacement {
        adPlacement.placement(perPage: adsPerPage, isOfFeed: adScope == .feed)
    }

    /// The same with what is said of a feed or a section.
    func with(_ ads: DeclaredAds?) -> FeedSettings {
        guard let ads else { return self }
        var settings = self
        settings.adPlacement = ads.rule ?? adPlacement
        settings.adsPerPage = ads.perPage ?? adsPerPage
        settings.adScope = ads.isOfFeed.map { $0 ? .feed : .page } ?? adScope
        return settings
    }
}

extension ServiceConfiguration {
    /// What the product's own cells are made with.
    var cells: CellConfiguration {
        var cells = CellConfiguration(hasViewers: !events.viewerHeader.isEmpty)
        cells.userCells = [.regular: feed.regularUserCell, .featured: feed.featuredUserCell]
        cells.mediaCells = [.video: feed.videoCell, .audio: feed.audioCell]
        cells.viewability = [.image: feed.imageViewability, .video: feed.videoViewability, .audio: feed.audioViewability]
        cells.userCommands[.selection] = SlotCommands(actions.userSelection, policy: actions.onFailure)
        cells.userCommands[.dismissal] = SlotCommands(actions.userDismissal, policy: actions.onFailure)
        cells.advertisementCommands[.selection] = SlotCommands(actions.advertisementSelection, policy: actions.onFailure)
        cells.advertisementCommands[.dismissal] = SlotCommands(actions.advertisementDismissal, policy: actions.onFailure)
        return cells
    }
}
