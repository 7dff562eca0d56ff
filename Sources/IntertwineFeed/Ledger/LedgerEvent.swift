/// One event: a row of the ledger.
///
/// ```swift
/// let now: Int64 = 1_750_000_000_000
/// var event = LedgerEvent(at: now, kind: .click, cell: "ad:1", viewer: "ann")
/// event.deduplication = .init(key: "click ann ad:1", window: 60_000)
/// event.rates = [.init(key: "click ann", limit: 30, window: 60_000)]
/// ```
public struct LedgerEvent: Sendable, Hashable {
    /// The kind of an event. Performances of custom slots have the name of their slot.
    ///
    /// ```swift
    /// let share = LedgerEvent.Kind(rawValue: "share")
    /// LedgerEvent.Kind.allCases.contains(share)  // false
    /// ```
    public struct Kind: RawRepresentable, Sendable, Hashable {
        /// The display of a cell, which a client reports.
        public static let impression = Kind(rawValue: "impression")
        /// A click on an ad, which its clickthrough link records.
        public static let click = Kind(rawValue: "click")
        /// The selection of a cell.
        public static let selection = Kind(rawValue: "selection")
        /// The deselection of a cell, which removes it from the list of selected cells.
        public static let deselection = Kind(rawValue: "deselection")
        /// The dismissal of a cell.
        public static let dismissal = Kind(rawValue: "dismissal")
        /// The addition of a cell to the list of saved cells.
        public static let save = Kind(rawValue: "save")
        /// The undo of an action.
        public static let undo = Kind(rawValue: "undo")

        /// The kinds that every service has and that reports count.
        public static let allCases: [Kind] = [.impression, .click, .selection, .deselection, .dismissal, .save, .undo]

        /// The playback events of an ad, with their VAST names.
        package static let playback = ["start", "firstQuartile", "midpoint", "thirdQuartile", "complete", "mute", "skip"].map {
            Kind(rawValue: $0)
        }

        /// True if a reported event of this kind is a playback event.
        ///
        /// ```swift
        /// LedgerEvent.Kind(rawValue: "firstQuartile").isPlayback  // true
        /// LedgerEvent.Kind.click.isPlayback  // false
        /// ```
        package var isPlayback: Bool { Self.playbackNames.contains(rawValue) }
        private static let playbackNames = Set(playback.map(\.rawValue))

        /// The name of the kind in exports and reports.
        public let rawValue: String

        /// Creates a kind from its name. Any name is valid.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// The time of the event in milliseconds since 1970-01-01 UTC.
    package var at: Int64
    /// The kind of the event.
    package var kind: Kind
    /// The id of the cell, such as `ad:1`.
    package var cell: String
    /// The viewer, or nil for anonymous requests and if `DNT` or `Sec-GPC` requests no tracking.
    package var viewer: String?
    /// The truncated or hashed address of the client, never a full address.
    package var address: String?
    /// The `User-Agent` field of the request, or nil without one.
    package var userAgent: String?
    /// The verdict of the caller. The ledger changes `counted` to `duplicate` or `limited` according to ``deduplication`` and ``rates``.
    package var verdict: Verdict
    /// The keys by which the event is a duplicate, or nil for an event that may repeat.
    package var deduplication: Deduplication?
    /// The keys of an event that must have counted before. If none of its ``Deduplication/checkedKeys`` is recorded, the verdict is `unseen`.
    package var requiredPriorEvent: Deduplication?
    /// The rate limits of counted events, each for one key.
    package var rates: [RateLimit]
    /// The context in which the cell was shown, or nil without the token of a page.
    package var showing: ImpressionContext?
    /// The type and the advertiser of the ad, or nil if the cell is not an ad.
    package var creative: CreativeInfo?
    /// The input of the slot, or nil if the slot takes no input.
    package var input: EventInput?

    /// Creates an event that counts once it is committed, unless another verdict is given.
    package init(
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
    ///
    /// ```swift
    /// let rule = LedgerEvent.Deduplication(key: "click ann ad:1", window: 60_000)
    /// rule.checkedKeys  // ["click ann ad:1"]
    /// ```
    package struct Deduplication: Sendable, Hashable {
        /// The keys that the event records for the length of the window if it counts.
        package var recordedKeys: [String]
        /// The keys that make the event a duplicate if an earlier counted event recorded one of them.
        package var checkedKeys: [String]
        /// The deduplication window, in milliseconds.
        package var window: Int64

        /// Creates a deduplication whose recorded keys differ from its checked keys.
        ///
        /// - Parameters:
        ///   - keys: The keys that the event records if it counts.
        ///   - repeats: The keys that make the event a duplicate.
        ///   - window: The deduplication window, in milliseconds.
        package init(keys: [String], repeats: [String], window: Int64) {
            self.recordedKeys = keys
            self.checkedKeys = repeats
            self.window = window
        }

        /// Creates a deduplication by one key: later events with the key inside the window are duplicates.
        package init(key: String, window: Int64) {
            self.init(keys: [key], repeats: [key], window: window)
        }
    }

    /// A limit of counted events for one key, such as a viewer or an address.
    ///
    /// ```swift
    /// let limit = LedgerEvent.RateLimit(key: "click ann", limit: 30, window: 60_000)  // 30 per minute
    /// ```
    package struct RateLimit: Sendable, Hashable {
        /// The key whose events are counted together.
        package var key: String
        /// The maximum number of counted events per window. Further events have the verdict `limited`.
        package var limit: Int
        /// The window of the limit, in milliseconds.
        package var window: Int64

        /// Creates a limit for a key. The window is in milliseconds.
        package init(key: String, limit: Int, window: Int64) {
            self.key = key
            self.limit = limit
            self.window = window
        }
    }
}

/// The data of an ad that reports contain besides its id.
package struct CreativeInfo: Sendable, Hashable {
    /// The creative type, such as `image` or `video`, or the name of the kind if it has no types.
    package var form: String
    /// The advertiser who pays for the ad, or nil if it is unknown.
    package var advertiser: String?

    /// Creates the data of an ad. Without an advertiser, it is unknown.
    package init(form: String, advertiser: String? = nil) {
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
package enum Verdict: String, Sendable, Hashable, CaseIterable {
    /// The outcome of the counting rules: `counted` for an event that counts, otherwise the reason against it.
    ///
    /// - `duplicate`: An earlier event with one of its keys counted within the window.
    /// - `expired`: The token is too old.
    /// - `bot`: The user agent identifies a program.
    /// - `prefetch`: A browser loaded the link without an action of its user.
    /// - `subresource`: A page of another site loaded the link as a part of that page.
    /// - `limited`: A rate limit is exceeded.
    /// - `unknown`: The token is invalid or belongs to another cell, or the cell does not exist.
    /// - `unseen`: No impression of the cell counted before, although the counting rules require one.
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
    ///
    /// ```swift
    /// Verdict.forged.publicReason  // .unknown
    /// Verdict.duplicate.publicReason  // .duplicate
    /// ```
    var publicReason: Verdict { isUnauthenticated ? .unknown : self }

    /// The verdicts that responses to clients may contain.
    package static let publicCases = allCases.filter { !$0.isUnauthenticated }

    /// True if no token authenticates the event. Such an event is counted and leaves no row.
    var isUnauthenticated: Bool { self == .forged || self == .misplaced || self == .gone }
}
