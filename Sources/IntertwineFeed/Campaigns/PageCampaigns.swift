/// Gives the places that one page has for advertisements to campaigns, and makes the cells of what they show.
struct PageCampaigns {
    /// What was asked for, and what each place was given to: for whoever explains it.
    struct Decision: Sendable {
        var page: AdServer.Page
        var served: [AdServer.ServedAd?]
        /// Whether it was before; known where places are only looked at.
        var wasServed = false
    }

    /// How often a page is decided anew because a creative cannot be shown: dismissed, gone, broken.
    private static let attempts = 8

    private let campaigns: Campaigns
    private let book: CampaignIndex
    private let facts: TargetingContext
    private let feed: String
    private let identity: UInt32
    /// Of a session that begins with the page.
    let chance: UInt64
    private let request: FeedRequest
    private let snapshot: any FeedSnapshot
    private let reader: (Campaign.Disclosure?) -> CellRenderer
    private(set) var decision: Decision?

    /// Nil where campaigns are not asked.
    ///
    /// - Parameters:
    ///   - digest: tells the feed, or the section that is asked for alone, from others.
    ///   - identity: tells the page from others.
    ///   - reader: makes cells of advertisements that are shown with such a disclosure.
    init?(
        _ campaigns: Campaigns?, _ book: CampaignIndex, feed: String, of digest: UInt64, identity: UInt32, _ request: FeedRequest,
        in snapshot: any FeedSnapshot,
        reader: @escaping (Campaign.Disclosure?) -> CellRenderer
    ) {
        guard let campaigns, let facts = request.campaigns else { return nil }
        (self.campaigns, self.book, self.facts, self.feed) = (campaigns, book, facts, feed)
        (self.identity, self.request, self.snapshot, self.reader) = (identity, request, snapshot, reader)
        chance = AdDecision.seed(facts.viewer, digest, UInt64(bitPattern: facts.moment))
    }

    func labels(of campaign: String) -> [AdKey] { book.index(of: campaign).map { Array(book.labels(of: $0)) } ?? [] }

    /// The cells of the places that campaigns get, in the order of the page; nil where they leave one to the house.
    ///
    /// - Parameters:
    ///   - places: of each, its section and its coordinate on the page.
    ///   - distances: what the session showed around the page.
    /// - Throws: what the store and the ledger throw.
    mutating func cells(in places: [(section: String?, coordinate: Int)], apart distances: AdDistances) throws -> [CellRenderer.PlacedCell?]
    {
        guard !places.isEmpty else { return [] }
        var page = AdServer.Page(
            slots: places.map { AdSlotContext(feed: feed, section: $0.section, layout: request.layout) }, identity: identity,
            facts: facts, now: request.now)
        (page.coordinates, page.distances) = (places.map(\.coordinate), distances)
        for _ in 0..<Self.attempts {
            let given = try campaigns.delivery.allocate(page, of: book)
            let cells = try self.cells(of: given)
            let missing = zip(given, cells).compactMap { given, cell in cell == nil ? given : nil }
            guard !missing.isEmpty else {
                // Of a page that was given before, what could not be shown is known from then.
                if !facts.allocates, page.banned.isEmpty { page.banned = campaigns.delivery.banned(on: page, of: book) }
                let wasGiven = try !facts.allocates && campaigns.delivery.hasAllocated(page, of: book)
                decision = Decision(page: page, served: given, wasServed: wasGiven)
                return cells
            }
            campaigns.delivery.release(given.compactMap(\.self), page)
            page.banned += missing.compactMap { book.number(of: $0.creative) }
        }
        decision = Decision(page: page, served: places.map { _ in nil })
        return places.map { _ in nil }
    }

    /// Each creative is read once, however many places show it.
    private func cells(of given: [AdServer.ServedAd?]) throws -> [CellRenderer.PlacedCell?] {
        var known: [AdServer.ServedAd: CellRenderer.PlacedCell?] = [:]
        return try given.map { given in
            guard var given else { return nil }
            let place = given.reservation
            given.reservation = nil
            let cell = try known[given] ?? self.cell(given)
            known[given] = .some(cell)
            var shown = cell
            shown?.served?.reservation = place
            return shown
        }
    }

    private func cell(_ given: AdServer.ServedAd) throws -> CellRenderer.PlacedCell? {
        guard let index = book.index(of: given.campaign),
            let item = try snapshot.item(kind: given.creative.kind, id: given.creative.id)
        else { return nil }
        let campaign = book.campaigns[index]
        var reader = self.reader(campaign.disclosure)
        var cell = try reader.cell(of: item)
        cell?.served = given
        cell?.served?.remembered = campaign.longestCapWindow
        return cell
    }
}
