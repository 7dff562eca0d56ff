/// An allocation of one page's ad slots, including the cells of the chosen creatives.
struct PageCampaigns {
    /// The request for slots and the resulting allocation, for explanations.
    struct Decision: Sendable {
        var page: AdServer.Page
        var served: [AdServer.ServedAd?]
        /// A Boolean value indicating whether the page was allocated before. It is known only for previews.
        var wasServed = false
    }

    /// The maximum number of decisions for a page. A decision is repeated if a creative cannot be shown: dismissed, removed or invalid.
    private static let attempts = 8

    private let campaigns: Campaigns
    private let campaignIndex: CampaignIndex
    private let facts: TargetingContext
    private let feed: String
    private let identity: UInt32
    /// The random seed of a session that begins with this page.
    let chance: UInt64
    private let request: FeedRequest
    private let snapshot: any FeedSnapshot
    private let reader: (Campaign.Disclosure?) -> CellRenderer
    private(set) var decision: Decision?

    /// Creates an allocation; nil if the request has no campaigns.
    ///
    /// - Parameters:
    ///   - digest: A number that identifies the feed, or the section that is requested alone.
    ///   - identity: A number that identifies the page.
    ///   - reader: Returns the renderer of ads with the given disclosure.
    init?(
        _ campaigns: Campaigns?, _ campaignIndex: CampaignIndex, feed: String, of digest: UInt64, identity: UInt32, _ request: FeedRequest,
        in snapshot: any FeedSnapshot,
        reader: @escaping (Campaign.Disclosure?) -> CellRenderer
    ) {
        guard let campaigns, let facts = request.campaigns else { return nil }
        (self.campaigns, self.campaignIndex, self.facts, self.feed) = (campaigns, campaignIndex, facts, feed)
        (self.identity, self.request, self.snapshot, self.reader) = (identity, request, snapshot, reader)
        chance = AdDecision.seed(facts.viewer, digest, UInt64(bitPattern: facts.moment))
    }

    func labels(of campaign: String) -> [AdKey] { campaignIndex.index(of: campaign).map { Array(campaignIndex.labels(of: $0)) } ?? [] }

    /// Returns the cells of the slots, in page order; nil for a slot that no campaign takes and that a house ad may fill.
    ///
    /// - Parameters:
    ///   - places: The section and the coordinate of each slot on the page.
    ///   - distances: The ads that the session showed around the page, and the spacing rules.
    /// - Throws: The errors of the store and the ledger.
    mutating func cells(in places: [(section: String?, coordinate: Int)], apart distances: AdDistances) throws -> [CellRenderer.PlacedCell?]
    {
        guard !places.isEmpty else { return [] }
        var page = AdServer.Page(
            slots: places.map { AdSlotContext(feed: feed, section: $0.section, layout: request.layout) }, identity: identity,
            facts: facts, now: request.now)
        (page.coordinates, page.distances) = (places.map(\.coordinate), distances)
        for _ in 0..<Self.attempts {
            let allocated = try campaigns.delivery.allocate(page, of: campaignIndex)
            let cells = try self.cells(of: allocated)
            let missing = zip(allocated, cells).compactMap { allocated, cell in cell == nil ? allocated : nil }
            guard !missing.isEmpty else {
                // For the preview of a page that was allocated before, the creatives that could not be shown are known from that time.
                if !facts.allocates, page.banned.isEmpty { page.banned = campaigns.delivery.banned(on: page, of: campaignIndex) }
                let wasAllocated = try !facts.allocates && campaigns.delivery.hasAllocated(page, of: campaignIndex)
                decision = Decision(page: page, served: allocated, wasServed: wasAllocated)
                return cells
            }
            campaigns.delivery.release(allocated.compactMap(\.self), page)
            page.banned += missing.compactMap { campaignIndex.number(of: $0.creative) }
        }
        decision = Decision(page: page, served: places.map { _ in nil })
        return places.map { _ in nil }
    }

    /// Returns the cells of an allocation. Each creative is read once, even if several slots show it.
    private func cells(of allocated: [AdServer.ServedAd?]) throws -> [CellRenderer.PlacedCell?] {
        var known: [AdServer.ServedAd: CellRenderer.PlacedCell?] = [:]
        return try allocated.map { allocated in
            guard var allocated else { return nil }
            let reservation = allocated.reservation
            allocated.reservation = nil
            let cell = try known[allocated] ?? self.cell(allocated)
            known[allocated] = .some(cell)
            var shown = cell
            shown?.served?.reservation = reservation
            return shown
        }
    }

    private func cell(_ allocated: AdServer.ServedAd) throws -> CellRenderer.PlacedCell? {
        guard let index = campaignIndex.index(of: allocated.campaign),
            let item = try snapshot.item(kind: allocated.creative.kind, id: allocated.creative.id)
        else { return nil }
        let campaign = campaignIndex.campaigns[index]
        var reader = self.reader(campaign.disclosure)
        var cell = try reader.cell(of: item)
        cell?.served = allocated
        cell?.served?.remembered = campaign.longestCapWindow
        return cell
    }
}
