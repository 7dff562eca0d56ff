/// One thing that happened: a row of the ledger.
public struct LedgerEvent: Sendable, Hashable {
    /// What happened. Slots that a kind of cell adds are performed under their own names.
    public struct Kind: RawRepresentable, Sendable, Hashable {
        public static let impression = Kind(rawValue: "impression")
        public static let click = Kind(rawValue: "click")
        public static let selection = Kind(rawValue: "selection")
        public static let deselection = Kind(rawValue: "deselection")
        public static let dismissal = Kind(rawValue: "dismissal")
        public static let save = Kind(rawValue: "save")
        public static let undo = Kind(rawValue: "undo")

        /// Those that every service has, and that reports count.
        public static let allCases: [Kind] = [.impression, .click, .selection, .deselection, .dismissal, .save, .undo]

        /// Whether it tells how far something was played, if it was reported.
        public var isPlayback: Bool { Self.playback.contains(rawValue) }
        private static let playback = Set(CommandKey.playback.map(\.rawValue))

        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// Milliseconds since 1970-01-01 UTC.
    public var at: Int64
    public var kind: Kind
    /// The cell's id, such as `ad:1`.
    public var cell: String
    /// Absent for anonymous requests, and where `DNT` or `Sec-GPC` asked for no trace.
    public var viewer: String?
    /// The client's address, already truncated or hashed. Never a full one.
    public var address: String?
    public var userAgent: String?
    /// What the caller decided so far. The ledger turns `counted` into `duplicate` or `limited` when ``deduplication`` or ``rates`` say so.
    public var verdict: Verdict
    public var deduplication: Deduplication?
    /// What must have counted before: the event is `unseen` where nothing left any of its ``Deduplication/repeats`` behind.
    public var requiredPriorEvent: Deduplication?
    /// How many counted events there may be under a key.
    public var rates: [RateLimit]
    /// Where the cell was shown; nil where no token of a page tells.
    public var showing: ImpressionContext?
    /// What sort of advertisement it is, and whose; nil for what is none.
    public var creative: CreativeInfo?
    /// What the slot was given; nil for what takes no input.
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

    /// The same event without a page's token: where it would count, it is ``Decision/noToken``, and no rule of counting applies.
    var withoutToken: LedgerEvent {
        guard verdict == .counted else { return self }
        var event = self
        (event.verdict, event.deduplication, event.requiredPriorEvent, event.rates) = (.noToken, nil, nil, [])
        return event
    }

    /// What makes an event a repetition.
    public struct Deduplication: Sendable, Hashable {
        /// Left behind by the event, where it counts, for as long as the window.
        public var recordedKeys: [String]
        /// The event is a duplicate where one that counted left any of these behind.
        public var checkedKeys: [String]
        /// Milliseconds.
        public var window: Int64

        public init(keys: [String], repeats: [String], window: Int64) {
            self.recordedKeys = keys
            self.checkedKeys = repeats
            self.window = window
        }

        /// Events with the same key inside the window are duplicates of the first.
        public init(key: String, window: Int64) {
            self.init(keys: [key], repeats: [key], window: window)
        }
    }

    public struct RateLimit: Sendable, Hashable {
        public var key: String
        /// Counted events per window; the next one is `limited`.
        public var limit: Int
        /// Milliseconds.
        public var window: Int64

        public init(key: String, limit: Int, window: Int64) {
            self.key = key
            self.limit = limit
            self.window = window
        }
    }
}

/// What reports tell of an advertisement besides its id.
public struct CreativeInfo: Sendable, Hashable {
    /// Such as `image` or `video`; the kind's name where it has no types.
    public var form: String
    /// Who pays for it; nil where nothing says so.
    public var advertiser: String?

    public init(form: String, advertiser: String? = nil) {
        self.form = form
        self.advertiser = advertiser
    }

    /// Bytes of an advertiser's name.
    static let advertiserLimit = 200

    init(_ item: FeedItem) {
        form = item.variant.isEmpty ? item.kind : item.variant
        let name = try? ItemFields(item.body).optionalText("advertiser", limit: Self.advertiserLimit)
        advertiser = name.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Whether an event counts, and if not, why. The person is served all the same; only the count differs.
public enum Verdict: String, Sendable, Hashable, CaseIterable {
    case counted, duplicate, expired, bot, prefetch, subresource, limited, unknown, unseen
    /// Nothing shows that the advertisement was on a page: the selection came without the click token of one.
    case noToken = "no-token"
    /// Its token is genuine, and came too late: its campaign does not run, the goal is reached, or the reservation of its place is over; or the
    /// advertisement became a campaign's after the page was made.
    case late
    /// Why an event is unknown: its token is none of ours, it is another cell's, or the cell is not there any more. Clients are told `unknown`, and
    /// reports by reason tell which.
    case forged, misplaced, gone

    /// What clients are told, and reports by verdict have.
    public var publicReason: Verdict { isUnauthenticated ? .unknown : self }

    /// Those that clients are told.
    public static let publicCases = allCases.filter { !$0.isUnauthenticated }

    /// Whether nothing vouches for it that there was an event: it is counted, and leaves no row.
    package var isUnauthenticated: Bool { self == .forged || self == .misplaced || self == .gone }
}
