package import IntertwinePrimitives
import Synchronization

/// A place for an advertisement, as far as campaigns tell places apart.
package struct AdSlotContext: Sendable, Hashable {
    package var feed: String
    package var section: String?
    package var layout: CellLayout

    package init(feed: String, section: String? = nil, layout: CellLayout = .collection) {
        (self.feed, self.section, self.layout) = (feed, section, layout)
    }
}

/// An advertisement that a campaign shows.
package struct CreativeID: Sendable, Hashable {
    package var kind: String
    package var id: String

    package init(kind: String, id: String) {
        (self.kind, self.id) = (kind, id)
    }

    init(_ item: FeedItem) { self.init(kind: item.kind, id: item.id) }
}

/// All campaigns that there are, made ready to be chosen from: immutable, and made anew where one of them changes.
///
/// A place's shelf has the campaigns that it can be given to in the order of their priorities: what is the same for all who ask is sorted out when
/// the shelf is made, what is asked of a request are a few bits, and those that have the same bits have a ``WeightedSelector`` in common.
package final class CampaignIndex: Sendable {
    /// Whether it has no campaign, and withholds nothing.
    var isEmpty: Bool { campaigns.isEmpty && creatives.isEmpty }

    /// A file has no more than so many, nor has a store: whoever writes another one is refused.
    package static let limit = 10_000
    /// What is said of one too many.
    package static let surplus = "there are \(limit) campaigns already, and no more than that are taken"

    /// Where among the book's rules those of a campaign begin, and where those of each sort end.
    struct Rules: Sendable {
        var start: Int32
        var any: Int32
        var all: Int32
        var none: Int32
        var locales: Int32
    }

    /// The campaigns that a place can be given to, by their priority.
    final class CandidateList: Sendable {
        struct Candidate: Sendable {
            /// Among the book's campaigns.
            var index: Int32
            var tier: UInt8
            var hasRules: Bool
            /// Of its caps for each viewer; the largest number where it has none.
            var smallestCap: Int32
            var weight: Float
            var rules: Rules
            /// Where in the shelf its creatives stand, and in the book its labels.
            var creatives: Range<Int32>
            var labels: Range<Int32>

            var hasCaps: Bool { smallestCap < .max }
        }

        let entries: ContiguousArray<Candidate>
        let creatives: ContiguousArray<Int32>

        init(_ entries: ContiguousArray<Candidate>, _ creatives: ContiguousArray<Int32>) {
            (self.entries, self.creatives) = (entries, creatives)
        }
    }

    private struct Interning {
        var numbers: [String: Int32] = [:]
        var list: ContiguousArray<Int32> = []

        mutating func add(_ texts: [String]) {
            for text in texts {
                let number = numbers[text] ?? Int32(clamping: numbers.count)
                numbers[text] = number
                list.append(number)
            }
        }
    }

    /// By priority and id.
    package let campaigns: [Campaign]
    /// Of each campaign those that there are, as numbers among ``creatives``, by layout.
    private let fitting: [[CellLayout: [Int32]]]
    package let creatives: [CreativeID]
    private let numbers: [CreativeID: Int32]
    /// From this number on, creatives of campaigns that are stopped, and of no other; and of them, those of campaigns that are there no more.
    private let firstWithheld: Int32
    private let firstFormer: Int32
    /// Advertisements that belong to campaigns, and that none names any more; with the ids of those.
    package let former: [CreativeID: [String]]
    private let indices: [String: Int]
    /// What is asked of requests: attributes, and languages in lower case behind a colon.
    private let conditions: [String: Int32]
    let rules: ContiguousArray<Int32>
    private let ends: [Rules]
    /// Of all campaigns, one after the other.
    let labels: ContiguousArray<AdKey>
    /// Of ``creatives``.
    let keys: ContiguousArray<AdKey>
    private let labelRanges: [Range<Int32>]
    private let asksLanguages: Bool
    /// The longest window of all caps in seconds; 0 without caps.
    let longestCapWindow: Int
    /// Whether any goal counts places.
    let reportsPlacements: Bool
    /// From the first start to the last end, by feed.
    private let spans: [String: Range<Int64>]
    private let shelves = Mutex<[AdSlotContext: CandidateList]>([:])

    /// - Parameters:
    ///   - withheld: creatives of campaigns that are taken down: they are no house ads either.
    ///   - former: advertisements that belong to campaigns, and that none names any more: they are no house ads either.
    ///   - creative: the advertisement that a campaign names, and the layouts that show it; nil where there is none.
    package init(
        _ campaigns: [Campaign], withheld: [String] = [], former: Set<CampaignMembership> = [],
        creative: (String) -> (creative: CreativeID, layouts: [CellLayout])?
    ) {
        let order = Campaign.Priority.allCases
        func tier(_ campaign: Campaign) -> Int { order.firstIndex(of: campaign.priority) ?? 0 }
        self.campaigns = campaigns.sorted { (tier($0), $0.id) < (tier($1), $1.id) }
        indices = Dictionary(self.campaigns.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        var rules = Interning()
        var labels: ContiguousArray<AdKey> = []
        var (ends, labelRanges): ([Rules], [Range<Int32>]) = ([], [])
        var numbers: [CreativeID: Int32] = [:]
        var known: [CreativeID] = []
        var fitting: [[CellLayout: [Int32]]] = []
        for campaign in self.campaigns {
            func count() -> Int32 { Int32(clamping: rules.list.count) }
            let start = count()
            rules.add(campaign.targeting.any)
            let any = count()
            rules.add(campaign.targeting.all)
            let all = count()
            if !campaign.targeting.none.isEmpty { rules.add(campaign.targeting.none + [Self.unknownAttributes]) }
            let none = count()
            rules.add(campaign.targeting.locales.map { ":" + $0.lowercased() })
            ends.append(Rules(start: start, any: any, all: all, none: none, locales: count()))
            let first = Int32(clamping: labels.count)
            labels += campaign.labels.map { AdKey(label: $0) }
            labelRanges.append(first..<Int32(clamping: labels.count))
            var found: [CellLayout: [Int32]] = [:]
            for name in campaign.creatives {
                guard let (creative, layouts) = creative(name) else { continue }
                let number = numbers[creative] ?? Int32(clamping: known.count)
                if numbers[creative] == nil { known.append(creative) }
                numbers[creative] = number
                for layout in layouts { found[layout, default: []].append(number) }
            }
            fitting.append(found)
        }
        firstWithheld = Int32(clamping: known.count)
        for name in withheld {
            guard let (creative, _) = creative(name), numbers[creative] == nil else { continue }
            numbers[creative] = Int32(clamping: known.count)
            known.append(creative)
        }
        firstFormer = Int32(clamping: known.count)
        let owners = Dictionary(grouping: former.filter { numbers[$0.creative] == nil }, by: \.creative).mapValues {
            $0.map(\.campaign).sorted()
        }
        for creative in owners.keys {
            numbers[creative] = Int32(clamping: known.count)
            known.append(creative)
        }
        self.former = owners
        (self.fitting, creatives, self.numbers) = (fitting, known, numbers)
        (conditions, self.rules, self.ends) = (rules.numbers, rules.list, ends)
        (self.labels, self.labelRanges) = (labels, labelRanges)
        keys = ContiguousArray(known.map { AdKey($0) })
        asksLanguages = self.campaigns.contains { !$0.targeting.locales.isEmpty }
        spans = CampaignIndex.spans(self.campaigns)
        longestCapWindow = self.campaigns.map(\.longestCapWindow).max() ?? 0
        reportsPlacements = self.campaigns.contains { $0.goal?.unit == .impressions }
    }

    var hasCaps: Bool { longestCapWindow > 0 }

    func index(of id: String) -> Int? { indices[id] }

    func labels(of campaign: Int) -> ContiguousArray<AdKey>.SubSequence {
        labels[Int(labelRanges[campaign].lowerBound)..<Int(labelRanges[campaign].upperBound)]
    }

    func number(of creative: CreativeID) -> Int32? { numbers[creative] }

    /// The advertisements that are taken down with the campaigns that they are in.
    var takenDown: ArraySlice<CreativeID> { creatives[Int(firstWithheld)..<Int(firstFormer)] }

    /// Whether an advertisement is gone with the campaigns that it is in, or was in.
    func isExclusive(_ creative: CreativeID) -> Bool { numbers[creative].map { $0 >= firstWithheld } ?? false }

    /// Holds for viewers of whose attributes some are not known: any may be one that a campaign excludes. No attribute is called so.
    private static let unknownAttributes = ""

    /// Whether any creative of a campaign is there, with a cell in a layout that it is shown in.
    func hasCreatives(_ index: Int) -> Bool {
        let layouts = campaigns[index].targeting.layouts
        return fitting[index].contains { layout, creatives in !creatives.isEmpty && (layouts.isEmpty || layouts.contains(layout)) }
    }

    /// Why a campaign is never shown at a place, whoever asks and whenever.
    func obstacle(of index: Int, at place: AdSlotContext) -> IneligibilityReason? {
        let targeting = campaigns[index].targeting
        if targeting.fitsNobody { return .attributes }
        if !targeting.feeds.isEmpty, !targeting.feeds.contains(place.feed) { return .feed }
        if !targeting.sections.isEmpty, !(place.section.map(targeting.sections.contains) ?? false) { return .section }
        if !targeting.layouts.isEmpty, !targeting.layouts.contains(place.layout) { return .layout }
        return fitting[index][place.layout, default: []].isEmpty ? .noCreative : nil
    }

    func candidates(at place: AdSlotContext) -> CandidateList {
        if let shelf = shelves.withLock({ $0[place] }) { return shelf }
        var entries: ContiguousArray<CandidateList.Candidate> = []
        var creatives: ContiguousArray<Int32> = []
        for index in campaigns.indices where obstacle(of: index, at: place) == nil {
            let start = Int32(clamping: creatives.count)
            creatives += fitting[index][place.layout, default: []]
            let campaign = campaigns[index]
            entries.append(
                CandidateList.Candidate(
                    index: Int32(clamping: index), tier: UInt8(Campaign.Priority.allCases.firstIndex(of: campaign.priority) ?? 0),
                    hasRules: campaign.targeting.asksViewer,
                    smallestCap: campaign.caps.map { min(Int32(clamping: $0.count), .max - 1) }.min() ?? .max,
                    weight: Float(campaign.weight),
                    rules: ends[index], creatives: start..<Int32(clamping: creatives.count), labels: labelRanges[index]))
        }
        let shelf = CandidateList(entries, creatives)
        // As many places as there are feeds, sections and layouts.
        shelves.withLock { $0[place] = shelf }
        return shelf
    }

    /// Which of the conditions hold for a request, as bits.
    func matchedTargeting(_ facts: TargetingContext) -> ContiguousArray<UInt64> {
        var bits = ContiguousArray<UInt64>(repeating: 0, count: (conditions.count + 63) / 64)
        func note(_ condition: String) {
            if let number = conditions[condition] { bits[Int(number) / 64] |= 1 << UInt64(number % 64) }
        }
        guard !bits.isEmpty else { return bits }
        for pair in facts.attributes?.pairs ?? [] { note(pair) }
        if facts.attributes?.isCut ?? false { note(Self.unknownAttributes) }
        if asksLanguages, let languages = facts.languages { for range in languages.rangesAround { note(":" + range) } }
        return bits
    }

    /// Whether an advertisement is in a campaign, be it one that does not run: no house shows it.
    func hasCreative(_ row: ItemRow) -> Bool {
        guard !numbers.isEmpty else { return false }
        return hasCreative(
            CreativeID(kind: String(decoding: row.kind, as: UTF8.self), id: String(decoding: row.id, as: UTF8.self)))
    }

    /// The same for an advertisement by its kind and id.
    func hasCreative(_ creative: CreativeID) -> Bool { numbers[creative] != nil }

    /// Whether any campaign may be shown in a feed, or in any of them, at a moment, as far as dates go. Asked for every page.
    func hasActiveCampaigns(feed: String?, at now: Int64) -> Bool {
        guard let feed else { return spans.values.contains { $0.contains(now) } }
        return [Self.everyFeed, feed].contains { spans[$0]?.contains(now) ?? false }
    }

    /// Of them all; nil where there are none.
    var span: Range<Int64>? {
        guard let start = spans.values.map(\.lowerBound).min(), let end = spans.values.map(\.upperBound).max() else { return nil }
        return start..<end
    }

    /// No feed's name.
    private static let everyFeed = ""

    private static func spans(_ campaigns: [Campaign]) -> [String: Range<Int64>] {
        var spans: [String: Range<Int64>] = [:]
        for campaign in campaigns where !campaign.isPaused {
            let (start, end) = (campaign.starts ?? .min, campaign.ends ?? .max)
            for feed in campaign.targeting.feeds.isEmpty ? [everyFeed] : campaign.targeting.feeds {
                let known = spans[feed] ?? start..<end
                spans[feed] = min(known.lowerBound, start)..<max(known.upperBound, end)
            }
        }
        return spans
    }
}

/// What a request knows that campaigns may ask for.
package struct TargetingContext: Sendable, Hashable {
    /// Whom caps are kept for; nil where nobody is named, or wants no trace.
    package var viewer: String?
    /// Stands for the address of whoever is not named; 0 where it is not known. A hash, another one in each process.
    package var address: UInt16 = 0
    package var attributes: ViewerAttributes?
    package var languages: LanguagePreferences?
    /// What tells the showings of a page from those of the same page later on, in milliseconds since 1970-01-01 UTC.
    package var moment: Int64
    /// Whether places are given, and not only looked at.
    package var allocates = true
    /// What the pages before it would have of campaigns, by their ids, where those are looked at as well and nobody was given them.
    var assumedServed: [String: Int] = [:]

    package init(
        viewer: String? = nil, attributes: ViewerAttributes? = nil, languages: LanguagePreferences? = nil, moment: Int64,
        allocates: Bool = true
    ) {
        (self.viewer, self.attributes, self.languages, self.moment, self.allocates) = (viewer, attributes, languages, moment, allocates)
    }

    /// What tells a page from others, and from itself for another viewer and at another moment. Never 0.
    func page(_ identity: UInt32) -> UInt32 {
        max(1, UInt32(truncatingIfNeeded: AdDecision.seed(viewer, UInt64(identity), UInt64(bitPattern: moment))))
    }
}

/// Why a campaign is not shown at a place.
package enum IneligibilityReason: UInt8, Sendable, Hashable, CaseIterable {
    case notStarted = 1
    case ended, outsideHours, goalReached, dailyGoalReached
    /// What is left of the goal is given out and not seen, or other processes' to give.
    case reserved
    case pacing, unknownDelivery
    case feed, section, layout, noCreative
    case locale, attributes, capped, noViewer, label, creativesShown
    /// The viewer has dismissed its creatives, or the client knows no cell of theirs.
    case notShown
    /// Another one was chosen.
    case lost
    /// Its declaration says so.
    case paused

    /// Whether it comes from how far the campaign's goal is, and may go as time does.
    var isOfGoal: Bool { [.goalReached, .dailyGoalReached, .reserved, .pacing].contains(self) }
}
