package import IntertwinePrimitives
import Synchronization

package struct AdSlotContext: Sendable, Hashable {
    package var feed: String
    package var section: String?
    package var layout: CellLayout

    package init(feed: String, section: String? = nil, layout: CellLayout = .collection) {
        (self.feed, self.section, self.layout) = (feed, section, layout)
    }
}

package final class CampaignIndex: Sendable {
    struct Creative: Sendable, Hashable {
        var id: CreativeID
        /// The layouts that have a cell of it.
        var layouts: [CellLayout]
        var isHouseAd = false
        /// The events that its cells cannot report, each with the slot that is missing.
        var unreported: [Campaign.Goal.Unit: CommandKey] = [:]
    }

    var isEmpty: Bool { campaigns.isEmpty }

    package static let limit = 10_000
    package static let surplus = "the limit of \(limit) campaigns is reached"

    /// The offsets of one campaign's conditions in the `rules` of the index: the start, and the end of each group.
    struct Rules: Sendable {
        var start: Int32
        var any: Int32
        var context: Int32
        var all: Int32
        var none: Int32
        var locales: Int32
    }

    final class CandidateList: Sendable {
        struct Candidate: Sendable {
            var index: Int32
            var tier: UInt8
            var hasRules: Bool
            var smallestCap: Int32
            var weight: Float
            var rules: Rules
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

    package let campaigns: [Campaign]
    private let fitting: [[CellLayout: [Int32]]]
    package let creatives: [CreativeID]
    private let numbers: [CreativeID: Int32]
    /// For each campaign, the first of its ads that is a house ad; empty if none is. Such a campaign is shown nowhere.
    private let houseAds: [String]
    private let indices: [String: Int]
    private let conditions: [String: Int32]
    let rules: ContiguousArray<Int32>
    private let ends: [Rules]
    let labels: ContiguousArray<AdKey>
    let keys: ContiguousArray<AdKey>
    private let labelRanges: [Range<Int32>]
    private let asksLanguages: Bool
    /// The longest window of all caps of all campaigns, in seconds; 0 without caps.
    let longestCapWindow: Int
    private let spans: [String: Range<Int64>]
    private let candidateLists = Mutex<[AdSlotContext: CandidateList]>([:])

    init(_ campaigns: [Campaign], creative: (String) -> Creative?) {
        self.campaigns = campaigns.sorted { ($0.priority.rank, $0.id) < ($1.priority.rank, $1.id) }
        indices = Dictionary(self.campaigns.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        var (conditions, rules): ([String: Int32], ContiguousArray<Int32>) = ([:], [])
        func add(_ texts: [String]) {
            for text in texts {
                let number = conditions[text] ?? Int32(clamping: conditions.count)
                conditions[text] = number
                rules.append(number)
            }
        }
        var labels: ContiguousArray<AdKey> = []
        var (ends, labelRanges): ([Rules], [Range<Int32>]) = ([], [])
        var numbers: [CreativeID: Int32] = [:]
        var known: [CreativeID] = []
        var fitting: [[CellLayout: [Int32]]] = []
        var houseAds: [String] = []
        for campaign in self.campaigns {
            func count() -> Int32 { Int32(clamping: rules.count) }
            let start = count()
            add(campaign.targeting.any)
            let any = count()
            add(campaign.targeting.anyContext)
            let context = count()
            add(campaign.targeting.all)
            let all = count()
            add(campaign.targeting.none)
            if !campaign.targeting.none.allSatisfy(Targeting.isContext) { add([Self.unknownAttributes]) }
            let none = count()
            add(campaign.targeting.locales.map { ":" + $0.lowercased() })
            ends.append(Rules(start: start, any: any, context: context, all: all, none: none, locales: count()))
            let first = Int32(clamping: labels.count)
            labels += campaign.labels.map { AdKey(label: $0) }
            labelRanges.append(first..<Int32(clamping: labels.count))
            var found: [CellLayout: [Int32]] = [:]
            for name in campaign.creatives {
                guard let creative = creative(name) else { continue }
                let number = numbers[creative.id] ?? Int32(clamping: known.count)
                if numbers[creative.id] == nil { known.append(creative.id) }
                numbers[creative.id] = number
                // It would take ad slots from campaigns that pay for them, and nothing of it would ever count.
                guard campaign.counted.allSatisfy({ creative.unreported[$0.unit] == nil }) else { continue }
                for layout in creative.layouts { found[layout, default: []].append(number) }
            }
            let house = campaign.creatives.first { creative($0)?.isHouseAd ?? false }
            houseAds.append(house ?? "")
            fitting.append(house == nil ? found : [:])
        }
        (self.fitting, creatives, self.numbers, self.houseAds) = (fitting, known, numbers, houseAds)
        (self.conditions, self.rules, self.ends) = (conditions, rules, ends)
        (self.labels, self.labelRanges) = (labels, labelRanges)
        keys = ContiguousArray(known.map { AdKey($0) })
        asksLanguages = self.campaigns.contains { !$0.targeting.locales.isEmpty }
        spans = CampaignIndex.spans(self.campaigns)
        longestCapWindow = self.campaigns.map(\.longestCapWindow).max() ?? 0
    }

    var hasCaps: Bool { longestCapWindow > 0 }

    package func index(of id: String) -> Int? { indices[id] }

    package func labels(of campaign: Int) -> ContiguousArray<AdKey>.SubSequence {
        labels[Int(labelRanges[campaign].lowerBound)..<Int(labelRanges[campaign].upperBound)]
    }

    package func number(of creative: CreativeID) -> Int32? { numbers[creative] }

    func houseAd(of index: Int) -> String? { houseAds[index].isEmpty ? nil : houseAds[index] }

    private static let unknownAttributes = ""

    func hasCreatives(_ index: Int) -> Bool {
        let layouts = campaigns[index].targeting.layouts
        return fitting[index].contains { layout, creatives in !creatives.isEmpty && (layouts.isEmpty || layouts.contains(layout)) }
    }

    /// Returns the reason why a campaign is never shown in a slot, for any viewer at any time; nil if it can be.
    func obstacle(of index: Int, at slot: AdSlotContext) -> IneligibilityReason? {
        let targeting = campaigns[index].targeting
        if !targeting.feeds.isEmpty, !targeting.feeds.contains(slot.feed) { return .feed }
        if !targeting.sections.isEmpty, !(slot.section.map(targeting.sections.contains) ?? false) { return .section }
        if !targeting.layouts.isEmpty, !targeting.layouts.contains(slot.layout) { return .layout }
        return fitting[index][slot.layout, default: []].isEmpty ? .noCreative : nil
    }

    func candidates(at slot: AdSlotContext) -> CandidateList {
        if let candidateList = candidateLists.withLock({ $0[slot] }) { return candidateList }
        var entries: ContiguousArray<CandidateList.Candidate> = []
        var creatives: ContiguousArray<Int32> = []
        for index in campaigns.indices where obstacle(of: index, at: slot) == nil {
            let start = Int32(clamping: creatives.count)
            creatives += fitting[index][slot.layout, default: []]
            let campaign = campaigns[index]
            entries.append(
                CandidateList.Candidate(
                    index: Int32(clamping: index), tier: UInt8(campaign.priority.rank),
                    hasRules: campaign.targeting.asksViewer,
                    smallestCap: campaign.caps.map { min(Int32(clamping: $0.count), .max - 1) }.min() ?? .max,
                    weight: Float(campaign.weight),
                    rules: ends[index], creatives: start..<Int32(clamping: creatives.count), labels: labelRanges[index]))
        }
        let candidateList = CandidateList(entries, creatives)
        // The number of entries is bounded by the number of feeds, sections and layouts.
        candidateLists.withLock { $0[slot] = candidateList }
        return candidateList
    }

    func matchedTargeting(_ targeting: TargetingContext) -> ContiguousArray<UInt64> {
        var bits = ContiguousArray<UInt64>(repeating: 0, count: (conditions.count + 63) / 64)
        func addCondition(_ condition: String) {
            if let number = conditions[condition] { bits[Int(number) / 64] |= 1 << UInt64(number % 64) }
        }
        guard !bits.isEmpty else { return bits }
        for pair in targeting.attributes?.pairs ?? [] { addCondition(pair) }
        for condition in targeting.context { addCondition(condition) }
        if targeting.attributes?.isCut ?? false { addCondition(Self.unknownAttributes) }
        if asksLanguages, let languages = targeting.languages { for range in languages.rangesAround { addCondition(":" + range) } }
        return bits
    }

    func hasActiveCampaigns(feed: String?, at now: Int64) -> Bool {
        guard let feed else { return spans.values.contains { $0.contains(now) } }
        return [Self.everyFeed, feed].contains { spans[$0]?.contains(now) ?? false }
    }

    var span: Range<Int64>? {
        guard let start = spans.values.map(\.lowerBound).min(), let end = spans.values.map(\.upperBound).max() else { return nil }
        return start..<end
    }

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

package struct TargetingContext: Sendable, Hashable {
    package var viewer: String?
    package var attributes: ViewerAttributes?
    package var languages: LanguagePreferences?
    /// The conditions of the filters' values.
    var context: [String] = []
    /// The milliseconds in which a viewer's repeated request gets the same page.
    package static let displayPeriod: Int64 = 300_000

    package var moment: Int64
    package var allocates = true
    /// The slots that previewed pages before this one would allocate to each campaign, by campaign id.
    var assumedServed: [String: Int] = [:]

    package init(
        viewer: String? = nil, attributes: ViewerAttributes? = nil, languages: LanguagePreferences? = nil, moment: Int64,
        allocates: Bool = true
    ) {
        (self.viewer, self.attributes, self.languages, self.moment, self.allocates) = (viewer, attributes, languages, moment, allocates)
    }

    /// The number is never 0.
    package func page(_ identity: UInt32) -> UInt32 {
        max(1, UInt32(truncatingIfNeeded: AdDecision.seed(viewer, UInt64(identity), UInt64(bitPattern: moment))))
    }
}

package enum IneligibilityReason: UInt8, Sendable, Hashable, CaseIterable {
    case notStarted = 1
    case ended, outsideHours, goalReached, dailyGoalReached
    case underWay
    case pacing, unknownDelivery
    case feed, section, layout, noCreative
    case locale, attributes, capped, noViewer, label, creativesShown
    case notShown
    case lost
    case paused
    /// Paused by an operator, in place of the file.
    case stopped

    /// True if the reason depends on the progress of the goal, so that it can end as time passes.
    var isOfGoal: Bool { [.goalReached, .dailyGoalReached, .underWay, .pacing].contains(self) }
}
