/// Advertisements that somebody pays for: which, from when until when, how often, and for whom.
package struct Campaign: Sendable, Hashable {
    /// Which campaigns are asked before which.
    package enum Priority: String, Sendable, Hashable, CaseIterable {
        case sponsorship, standard, house
    }

    package enum Pacing: String, Sendable, Hashable, CaseIterable {
        /// Spread over the time that there is.
        case even
        /// As soon as there are places.
        case asap
    }

    /// How much is to be delivered; of either count one at the least.
    package struct Goal: Sendable, Hashable {
        package enum Unit: String, Sendable, Hashable, CaseIterable {
            case impressions, clicks
        }

        package var unit: Unit
        package var total: Int?
        /// In each day of the campaign's zone.
        package var daily: Int?

        /// What the ledger calls it.
        package var kind: LedgerEvent.Kind { unit == .impressions ? .impression : .click }
    }

    /// A viewer sees the campaign so often at the most in any stretch of so long.
    package struct FrequencyCap: Sendable, Hashable {
        package var count: Int
        /// Seconds.
        package var window: Int
    }

    /// What is said of an advertisement being one.
    package struct Disclosure: Sendable, Hashable {
        package var label: String
        package var advertiser: String
    }

    package static let kind = "campaign"

    package var id: String
    package var advertiser: String
    /// Ids of advertisements, or of their cells where they are of another kind.
    package var creatives: [String]
    /// Milliseconds since 1970-01-01 UTC; nil for always.
    package var starts: Int64?
    package var ends: Int64?
    /// Whether it is stopped until this is taken back.
    package var isPaused = false
    package var zone = CampaignTimeZone.utc
    package var priority = Priority.standard
    package var weight = 1
    package var goal: Goal?
    package var pacing = Pacing.asap
    package var caps: [FrequencyCap] = []
    package var targeting = Targeting()
    /// No two campaigns of one label stand on a page.
    package var labels: [String] = []
    package var disclosure: Disclosure?
    /// Whom it has called, besides what its creatives do.
    package var trackers = Trackers()

    package init(id: String, advertiser: String, creatives: [String]) {
        (self.id, self.advertiser, self.creatives) = (id, advertiser, creatives)
    }

    /// The longest window of the caps in seconds; 0 without caps.
    package var longestCapWindow: Int { caps.map(\.window).max() ?? 0 }

    /// Whether it can be shown at a moment, as far as its dates go, and is not paused.
    package func isRunning(at now: Int64) -> Bool { !isPaused && !(starts.map { now < $0 } ?? false) && !(ends.map { now >= $0 } ?? false) }
}

/// Whom a campaign is shown to: everybody, where nothing is said.
package struct Targeting: Sendable, Hashable {
    package static let weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    package var feeds: [String] = []
    package var sections: [String] = []
    package var layouts: [CellLayout] = []
    /// Language ranges (RFC 4647), one of which has to take in a language that the client wants.
    package var locales: [String] = []
    /// Hours of the day in the campaign's zone, 0 to 23, as bits.
    package var hours: UInt32 = 0xFF_FFFF
    /// Days of the week, Monday first, as bits.
    package var days: UInt8 = 0x7F
    /// Attributes of the viewer as `name=value`: one of them at least, all, none.
    package var any: [String] = []
    /// Whether `any` is an empty list: no viewer has one of none.
    package var fitsNobody = false
    package var all: [String] = []
    package var none: [String] = []

    package init() {}

    /// Whether it depends on who asks, and not on where and when alone.
    var asksViewer: Bool { !locales.isEmpty || !any.isEmpty || !all.isEmpty || !none.isEmpty }

    /// Whether it leaves out any time of the week.
    var hasTimes: Bool { hours != 0xFF_FFFF || days != 0x7F }
}

extension Campaign.Disclosure {
    /// `"disclosure": {"disclosure": {"label": …, "advertiser": …}}`
    var binding: Binding {
        Binding(
            "disclosure",
            .custom(type: "disclosure", .object([.init("label", .text(label)), .init("advertiser", .text(advertiser))])))
    }
}
