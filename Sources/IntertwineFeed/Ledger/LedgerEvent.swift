/// One event: a row of the ledger.
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

        package var isOfAds: Bool { self == .impression || self == .click || isPlayback }

        package var isPlayback: Bool { Self.playbackNames.contains(rawValue) }
        private static let playbackNames = Set(playback.map(\.rawValue))

        package static let complete = Kind(rawValue: "complete")
        /// An ad slot that a campaign got; in the table `delivery` alone.
        package static let offer = Kind(rawValue: "offer")

        /// Why only `complete` follows the impression: media are viewable only after they have played for a while, so `start` comes first.
        var before: [Kind] {
            switch rawValue {
            case "firstQuartile", "mute", "skip": [Kind(rawValue: "start")]
            case "midpoint": [Kind(rawValue: "firstQuartile")]
            case "thirdQuartile": [Kind(rawValue: "midpoint")]
            case "complete": [Kind(rawValue: "thirdQuartile"), .impression]
            default: []
            }
        }

        /// The name of the kind in exports and reports.
        public let rawValue: String

        /// Creates a kind from its name. Any name is valid.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }

    /// The time of the event in milliseconds since 1970-01-01 UTC.
    package var at: Int64
    package var kind: Kind
    package var cell: String
    package var viewer: String?
    /// The truncated or hashed address of the client, never a full address.
    package var address: String?
    package var userAgent: String?
    package var verdict: Verdict
    package var deduplication: Deduplication?
    /// The keys of events that must all have been accepted before.
    package var requiredPriorEvents: [Deduplication] = []
    package var rates: [RateLimit]
    package var impressionContext: ImpressionContext?
    package var creative: CreativeInfo?
    package var input: EventInput?
    package var terms: Terms?

    package init(
        at: Int64, kind: Kind, cell: String, viewer: String? = nil, address: String? = nil, userAgent: String? = nil,
        verdict: Verdict = .counted, deduplication: Deduplication? = nil, rates: [RateLimit] = [],
        impressionContext: ImpressionContext? = nil
    ) {
        (self.at, self.kind, self.cell, self.viewer, self.address, self.userAgent) = (at, kind, cell, viewer, address, userAgent)
        (self.verdict, self.deduplication, self.rates, self.impressionContext) = (verdict, deduplication, rates, impressionContext)
    }

    package func rejected(as verdict: Verdict) -> LedgerEvent {
        guard self.verdict == .counted else { return self }
        var event = self
        (event.verdict, event.deduplication, event.requiredPriorEvents, event.rates) = (verdict, nil, [], [])
        return event
    }

    package struct Deduplication: Sendable, Hashable {
        package var recordedKeys: [String]
        package var checkedKeys: [String]
        /// The deduplication window, in milliseconds.
        package var window: Int64

        package init(keys: [String], repeats: [String], window: Int64) {
            (recordedKeys, checkedKeys, self.window) = (keys, repeats, window)
        }

        package init(key: String, window: Int64) {
            self.init(keys: [key], repeats: [key], window: window)
        }
    }

    package struct RateLimit: Sendable, Hashable {
        package var key: String
        package var limit: Int
        /// The window of the limit, in milliseconds.
        package var window: Int64
        /// That of an event beyond the limit.
        package var verdict: Verdict

        package init(key: String, limit: Int, window: Int64, verdict: Verdict = .limited) {
            (self.key, self.limit, self.window, self.verdict) = (key, limit, window, verdict)
        }
    }
}

package struct CreativeInfo: Sendable, Hashable {
    package var form: String
    package var advertiser: String?

    package init(form: String, advertiser: String? = nil) {
        (self.form, self.advertiser) = (form, advertiser)
    }

    package init(_ item: FeedItem) {
        form = item.variant.isEmpty ? item.kind : item.variant
        let name = try? ItemFields(item.body).optionalText("advertiser", limit: Advertisement.advertiserLimit)
        advertiser = name.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The reason why an event counts or does not count.
package enum Verdict: String, Sendable, Hashable, CaseIterable {
    /// The outcome of the counting rules: `counted` for an event that counts, otherwise the reason against it.
    /// - `prefetch`: A browser loaded the link without an action of its user.
    /// - `unseen`: The event that must come first is missing: the impression before a click, or the playback event before another one.
    case counted, surplus, duplicate, expired, bot, prefetch, subresource, scripted, limited, unknown, unseen
    case tooEarly = "too-early"
    case noToken = "no-token"
    case late
    case forged, misplaced, gone
    /// An operator took back a counted event.
    case voided

    var publicReason: Verdict { isUnauthenticated ? .unknown : self }

    /// The verdicts that a client can receive.
    package static let publicCases = allCases.filter { !$0.isUnauthenticated && $0 != .voided }

    package var isAccepted: Bool { self == .counted || self == .surplus || self == .late }

    var isUnauthenticated: Bool { self == .forged || self == .misplaced || self == .gone }
}
