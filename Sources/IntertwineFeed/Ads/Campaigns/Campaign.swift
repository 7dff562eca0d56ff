package struct Campaign: Sendable, Hashable {
    package enum Priority: String, Sendable, Hashable, CaseIterable {
        case sponsorship, standard, house

        var rank: Int {
            switch self {
            case .sponsorship: 0
            case .standard: 1
            case .house: 2
            }
        }
    }

    package enum Pacing: String, Sendable, Hashable, CaseIterable {
        case even
        case asap
    }

    /// The amount to deliver: a total, a daily amount, or both.
    package struct Goal: Sendable, Hashable {
        package typealias Unit = CampaignStatistics.GoalUnit

        package var unit: Unit
        package var total: Int?
        package var daily: Int?

        package var kind: LedgerEvent.Kind { unit.kind }
    }

    /// The store has an override as a takedown of a kind that no item has, so that it is copied, shared and released as one.
    package enum Override: String, Sendable, Hashable, CaseIterable {
        case paused, running

        package var kind: String { "campaign \(rawValue)" }

        /// A condition of SQL that is true for the kinds of items.
        package static let isNoKind = "NOT LIKE 'campaign %'"
    }

    package struct Disclosure: Sendable, Hashable {
        package var label: LocalizedText
        package var advertiser: String
    }

    package static let kind = "campaign"

    package var id: String
    package var advertiser: String
    package var creatives: [String]
    /// The start in milliseconds since 1970-01-01 UTC; nil if the campaign has no start.
    package var starts: Int64?
    package var ends: Int64?
    package var isPaused = false
    /// Set by an operator, in place of ``isPaused`` of the file.
    package var override: Override?
    package var zone = CampaignTimeZone.utc
    package var priority = Priority.standard
    package var weight = 1
    package var goal: Goal?
    package var price: CampaignPrice?
    package var pacing = Pacing.asap
    package var caps: [FrequencyCap] = []
    package var targeting = Targeting()
    /// Two campaigns with a common label are never shown on one page.
    package var labels: [String] = []
    package var disclosure: Disclosure?
    package var trackers = Trackers()

    package init(id: String, advertiser: String, creatives: [String]) {
        (self.id, self.advertiser, self.creatives) = (id, advertiser, creatives)
    }

    /// The longest window of all caps, in seconds; 0 without caps.
    var longestCapWindow: Int { caps.map(\.window).max() ?? 0 }

    /// The events that the goal and the price count, each with the member that says so.
    var counted: [(member: String, unit: Goal.Unit)] {
        [("goal", goal?.unit), ("price", price?.model.unit)].compactMap { member, unit in unit.map { (member, $0) } }
    }

    func disclosure(in language: FeedLanguage?) -> CellContext.Disclosure {
        CellContext.Disclosure(label: disclosure?.label[language], advertiser: disclosure?.advertiser ?? advertiser)
    }

    package func isRunning(at now: Int64) -> Bool { !isPaused && !(starts.map { now < $0 } ?? false) && !(ends.map { now >= $0 } ?? false) }
}

package struct Targeting: Sendable, Hashable {
    static let weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    package var feeds: [String] = []
    package var sections: [String] = []
    package var layouts: [CellLayout] = []
    /// Language ranges (RFC 4647). One range must match a language that the client accepts.
    package var locales: [String] = []
    package var hours: UInt32 = 0xFF_FFFF
    package var days: UInt8 = 0x7F
    /// The viewer must have at least one of `any`, all of `all`, and none of `none`. The filters of the page are in `all` and `none`, too.
    package var any: [String] = []
    package var all: [String] = []
    package var none: [String] = []
    /// The page must have at least one of these values of filters, too.
    package var anyContext: [String] = []

    package init() {}

    /// The condition of a filter's value, which differs from those of attributes.
    static func context(_ name: some StringProtocol, _ value: some StringProtocol) -> String { "?\(name)=\(value)" }

    static func isContext(_ condition: String) -> Bool { condition.hasPrefix("?") }

    var asksAttributes: Bool { !any.isEmpty || !(all + none).allSatisfy(Self.isContext) }

    var asksViewer: Bool { !locales.isEmpty || !any.isEmpty || !all.isEmpty || !none.isEmpty || !anyContext.isEmpty }

    /// An attribute that a viewer must have and must not have; nil if there is none.
    var contradiction: String? {
        all.first(where: none.contains) ?? [any, anyContext].lazy.compactMap { $0.allSatisfy(none.contains) ? $0.first : nil }.first
    }

    var hasTimes: Bool { hours != 0xFF_FFFF || days != 0x7F }
}
