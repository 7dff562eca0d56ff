package import IntertwineItems

/// One event: a row of the ledger.
public struct LedgerEvent: Sendable, Hashable {
    /// The kind of an event. Performances of custom slots have the name of their slot.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        public static let impression = Kind(rawValue: "impression")
        public static let click = Kind(rawValue: "click")
        public static let selection = Kind(rawValue: "selection")
        public static let deselection = Kind(rawValue: "deselection")
        public static let dismissal = Kind(rawValue: "dismissal")
        public static let save = Kind(rawValue: "save")
        public static let undo = Kind(rawValue: "undo")

        /// The kinds that every service has and that reports count.
        public static let allCases: [Kind] = [.impression, .click, .selection, .deselection, .dismissal, .save, .undo]

        /// The playback events of an ad, with their VAST names.
        package static let playback = ["start", "firstQuartile", "midpoint", "thirdQuartile", "complete", "mute", "skip"].map {
            Kind(rawValue: $0)
        }

        /// True if a reported event of this kind is a playback event.
        public var isPlayback: Bool { Self.playbackNames.contains(rawValue) }
        private static let playbackNames = Set(playback.map(\.rawValue))

        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// The time of the event in milliseconds since 1970-01-01 UTC.
    public var at: Int64
    public var kind: Kind
    /// The id of the cell, such as `ad:1`.
    public var cell: String
    /// The viewer, or nil for anonymous requests and if `DNT` or `Sec-GPC` requests no tracking.
    public var viewer: String?
    /// The truncated or hashed address of the client, never a full address.
    public var address: String?
    public var userAgent: String?
    /// The verdict of the caller. The ledger changes `counted` to `duplicate` or `limited` according to ``deduplication`` and ``rates``.
    public var verdict: Verdict
    public var deduplication: Deduplication?
    /// The keys of an event that must have counted before. If none of its ``Deduplication/checkedKeys`` is recorded, the verdict is `unseen`.
    public var requiredPriorEvent: Deduplication?
    /// The rate limits of counted events, each for one key.
    public var rates: [RateLimit]
    /// The context in which the cell was shown, or nil without the token of a page.
    public var showing: ImpressionContext?
    /// The type and the advertiser of the ad, or nil if the cell is not an ad.
    public var creative: CreativeInfo?
    /// The input of the slot, or nil if the slot takes no input.
    public var input: EventInput?

    public init(
        at: Int64, kind: Kind, cell: String, viewer: String? = nil, address: String? = nil, userAgent: String? = nil,
        verdict: Verdict = .counted, deduplication: Deduplication? = nil, rates: [RateLimit] = [],
        showing: ImpressionContext? = nil
    ) {
        self.at = at
        self.kind = kind
        self.cell = cell
        self.viewer = viewer
        self.address = address
        self.userAgent = userAgent
        self.verdict = verdict
        self.deduplication = deduplication
        self.rates = rates
        self.showing = showing
    }

    /// Returns the event with a verdict that keeps it from counting, and without counting rules. An event that does not count is unchanged.
    package func rejected(as verdict: Verdict) -> LedgerEvent {
        guard self.verdict == .counted else { return self }
        var event = self
        (event.verdict, event.deduplication, event.requiredPriorEvent, event.rates) = (verdict, nil, nil, [])
        return event
    }

    /// The keys by which an event is a duplicate.
    public struct Deduplication: Sendable, Hashable {
        /// The keys that the event records for the length of the window if it counts.
        public var recordedKeys: [String]
        /// The keys that make the event a duplicate if an earlier counted event recorded one of them.
        public var checkedKeys: [String]
        /// The deduplication window, in milliseconds.
        public var window: Int64

        public init(keys: [String], repeats: [String], window: Int64) {
            self.recordedKeys = keys
            self.checkedKeys = repeats
            self.window = window
        }

        /// Creates a deduplication by one key: later events with the key inside the window are duplicates.
        public init(key: String, window: Int64) {
            self.init(keys: [key], repeats: [key], window: window)
        }
    }

    public struct RateLimit: Sendable, Hashable {
        public var key: String
        /// The maximum number of counted events per window. Further events have the verdict `limited`.
        public var limit: Int
        /// The window of the limit, in milliseconds.
        public var window: Int64

        public init(key: String, limit: Int, window: Int64) {
            self.key = key
            self.limit = limit
            self.window = window
        }
    }
}

/// The data of an ad that reports contain besides its id.
public struct CreativeInfo: Sendable, Hashable {
    /// The creative type, such as `image` or `video`, or the name of the kind if it has no types.
    public var form: String
    /// The advertiser who pays for the ad, or nil if it is unknown.
    public var advertiser: String?

    public init(form: String, advertiser: String? = nil) {
        self.form = form
        self.advertiser = advertiser
    }

    package init(_ item: FeedItem) {
        form = item.variant.isEmpty ? item.kind : item.variant
        let name = try? ItemFields(item.body).optionalText("advertiser", limit: Advertisement.advertiserLimit)
        advertiser = name.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The reason why an event counts or does not count. The response to the client does not depend on it.
public enum Verdict: String, Sendable, Hashable, CaseIterable {
    case counted, duplicate, expired, bot, prefetch, subresource, limited, unknown, unseen
    /// No token proves that the ad was on a page: the selection came without the click token of a page.
    case noToken = "no-token"
    /// The token is authentic but too late.
    ///
    /// Its campaign is not running, the goal is reached, the reservation of the ad slot is over, or the ad became part of a campaign after the
    /// page was created.
    case late
    /// The reasons for `unknown`: the token is forged, the token belongs to another cell (`misplaced`), or the cell is gone.
    ///
    /// Clients receive `unknown`. Reports by reason distinguish the three.
    case forged, misplaced, gone

    /// The verdict in responses to clients and in reports by verdict.
    public var publicReason: Verdict { isUnauthenticated ? .unknown : self }

    /// The verdicts that responses to clients may contain.
    public static let publicCases = allCases.filter { !$0.isUnauthenticated }

    /// True if no token authenticates the event. Such an event is counted and leaves no row.
    package var isUnauthenticated: Bool { self == .forged || self == .misplaced || self == .gone }
}
