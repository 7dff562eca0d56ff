/// Why a page looks as it does, for operators.
package struct FeedExplanation: Sendable {
    package struct AdSlot: Sendable, Hashable {
        package var cell: String
        package var form: ItemType
        /// Where the item stands in the order of its lane.
        package var position: Int64
        /// The reuse identifier of the factory that made the cell.
        package var identifier: String
        /// The type of that factory.
        package var factory: String?
        /// The index within the page's advertisements; nil for content.
        package var adSlot: Int?
        /// The campaign that it is shown for; nil for content, and for what the house shows.
        package var campaign: String?
    }

    /// One advertisement, and where in the feed it is shown.
    package struct Advertisement: Sendable, Hashable {
        package var form: ItemType
        package var id: String
        /// Where it stands in the order of its lane.
        package var position: Int64
        /// How many advertisements come before it in the rotation; nil where it has no part in it.
        package var rank: Int?
        /// The first page that shows it, counted from 1 at the feed's start, and its index within that page's advertisements.
        package var page: Int?
        package var slot: Int?
        package var isOnThisPage: Bool
        /// Why no page shows it; nil where one does.
        package var absence: NotShownReason?
    }

    /// A place for an advertisement that campaigns were asked for.
    package struct Decision: Sendable, Hashable {
        package var section: String?
        /// The campaign that has it; nil where the house has, or nobody.
        package var campaign: String?
        /// Why each of the others has not.
        package var others: [LosingCampaign]

        package struct LosingCampaign: Sendable, Hashable {
            package var campaign: String
            package var obstacle: IneligibilityReason
        }
    }

    /// What shows nowhere until it is released.
    package struct TakenDown: Sendable, Hashable {
        package var kind: String
        package var id: String
    }

    package enum NotShownReason: Sendable, Hashable {
        /// It is in a campaign, and shown where that has a place.
        case inCampaign
        /// It is in campaigns that are taken down, and in no other.
        case campaignTakenDown
        /// It belongs to campaigns that are there no more, and is not released; with their ids.
        case formerlyInCampaigns([String])
        /// The viewer has dismissed it.
        case dismissed
        /// No cell can be made of it.
        case omitted(FeedPage.SkippedItem.Reason)
        /// The feed ends after so many pages, which show so many advertisements in all, some of them for campaigns.
        case feedEnds(pages: Int, shown: Int, paid: Int = 0)
        /// No page that was looked at shows it: so many, and there are more.
        case notAmong(pages: Int)
    }

    package var adSlots: [AdSlot]
    /// Which advertisements the placement asked for.
    package var supply: FillPolicy
    /// The position, among the advertisements, of the page's first one, with which the rotation goes on here; nil where it has none.
    package var rotationStart: Int64?
    /// The page's number, from 1; nil where a walk from the feed's start, with the same limit, layout and width, does not meet its cursor.
    package var page: Int?
    /// What would have been on the page, content and advertisements, and why it is not.
    package var omissions: [FeedPage.SkippedItem]
    /// The places that campaigns were asked for, in order.
    package var decisions: [Decision]
    /// Campaigns and advertisements that are taken down, the first ones.
    package var takenDown: [TakenDown]
    /// The first advertisements, as many as were asked for.
    package var advertisements: [Advertisement]
    package var next: String?
    package var previous: String?
}

extension FeedAssembler {
    /// How many pages a walk looks at for where advertisements are.
    private static let pageLimit = 500

    /// The page, why each cell stands there, and where each advertisement is shown: on this page, on another one, or on none.
    ///
    /// That is found by walking the feed from its start with the request's limit, layout and width, up to `walkLimit` pages.
    /// - Parameter advertisements: how many of them are told of.
    /// - Throws: as ``page(_:for:)`` does.
    package func explain(_ request: FeedRequest, lookingAt advertisements: Int = 1_000) async throws -> FeedExplanation {
        let page = try await page(request)
        let context = context(of: request)
        let version = store.version
        let cursor = try request.cursor.map(cursor)
        let (found, number, takenDown) = try await read(request, for: .background) { [self] snapshot, marks in
            let walk = try PageSimulation(of: self, request, for: cursor, at: version, in: snapshot, marks, pages: Self.pageLimit)
            var reader = CellRenderer(factories: factories, cache: cells, context: context, viewerState: marks)
            var rank = 0
            let book = try campaigns?.book(at: version, in: snapshot, of: store)
            let items = try snapshot.items(in: .advertisements, .forward, of: nil, limit: advertisements).filter {
                $0.kind != Campaign.kind
            }
            let found = try items.map { item in
                let isPaid = item.withRow { book?.hasCreative($0) ?? false }
                let omitted = reader.omissions.count
                let former = (book?.former[CreativeID(item)]).map { FeedExplanation.NotShownReason.formerlyInCampaigns($0) }
                let isStopped = book?.isExclusive(CreativeID(item)) ?? false
                let cell = try reader.cell(of: item)?.rendered.id
                let place = cell.flatMap { walk.positions[$0] }
                defer { if cell != nil, !isPaid { rank += 1 } }
                return FeedExplanation.Advertisement(
                    form: ItemType(kind: item.kind, variant: item.variant), id: item.id, position: item.position,
                    rank: cell == nil || isPaid ? nil : rank, page: place?.page, slot: place?.slot,
                    isOnThisPage: page.entries.contains { $0.adSlot != nil && $0.cell.id == cell },
                    absence: reader.omissions.count > omitted
                        ? reader.omissions.last.map { .omitted($0.reason) }
                        : place != nil
                            ? nil
                            : cell == nil
                                ? .dismissed
                                : former ?? (isStopped ? .campaignTakenDown : isPaid ? .inCampaign : walk.absence))
            }
            let kinds = [Campaign.kind] + factories.kinds(in: .advertisements).sorted()
            let takenDown = try kinds.flatMap { kind in
                try snapshot.blockedItems(kind: kind, limit: advertisements).map { FeedExplanation.TakenDown(kind: kind, id: $0.id) }
            }
            return (found, walk.number, takenDown)
        }
        let places = page.entries.map { entry in
            let item = entry.cell.item
            let form = ItemType(kind: item.kind, variant: item.variant)
            return FeedExplanation.AdSlot(
                cell: entry.id, form: form, position: entry.position, identifier: entry.cell.identifier,
                factory: factories[form, request.layout].map { String(describing: type(of: $0)) }, adSlot: entry.adSlot,
                campaign: entry.campaign)
        }
        return FeedExplanation(
            adSlots: places, supply: placement.supply, rotationStart: places.first { $0.adSlot != nil }?.position, page: number,
            omissions: page.omissions, decisions: try await decisions(of: page), takenDown: takenDown, advertisements: found,
            next: page.next,
            previous: page.previous)
    }

    /// Why the page's places were given as they were.
    private func decisions(of page: FeedPage) async throws -> [FeedExplanation.Decision] {
        guard let campaigns, let decision = page.decision else { return [] }
        return try await store.read(for: .background) { [self] snapshot in
            guard let book = try campaigns.book(at: store.version, in: snapshot, of: store) else { return [] }
            let reasons = try campaigns.delivery.explain(decision.page, of: book, served: decision.served)
            return zip(zip(decision.page.slots, decision.served), reasons).map { place, reasons in
                FeedExplanation.Decision(
                    section: place.0.section, campaign: place.1?.campaign,
                    others: zip(book.campaigns, reasons).compactMap { campaign, obstacle in
                        obstacle.map { .init(campaign: campaign.id, obstacle: $0) }
                    })
            }
        }
    }
}

/// All pages of a feed from its start, as far as they are looked at.
private struct PageSimulation {
    /// Of each advertisement's cell, the first one.
    private(set) var positions: [String: (page: Int, slot: Int)] = [:]
    /// The page that a cursor leads to, counted from 1.
    private(set) var number: Int?
    /// Why an advertisement is on none of them.
    let absence: FeedExplanation.NotShownReason

    init(
        of feed: FeedAssembler, _ request: FeedRequest, for cursor: PageCursor?, at version: StoreVersion, in snapshot: any FeedSnapshot,
        _ marks: ViewerState?, pages limit: Int
    ) throws {
        var request = request
        request.followsChanges = false
        var next: PageCursor?
        var (shown, paid) = (0, 0)
        // What of campaigns the pages so far would have that nobody was given yet: it counts for caps and goals of those after them.
        var given: [String: Int] = [:]
        for page in 1...limit {
            if next == cursor { number = page }
            // The page that is explained is what it is, whether or not somebody was given those before it.
            request.campaigns?.assumedServed = next == cursor ? [:] : given
            let made = try feed.assemble(request, cursor: next, version: version, snapshot: snapshot, viewerState: marks)
            if let decision = made.decision, !decision.wasServed {
                for place in decision.served.compactMap(\.self) { given[place.campaign, default: 0] += 1 }
            }
            for entry in made.entries {
                guard let slot = entry.adSlot else { continue }
                shown += 1
                if entry.campaign != nil { paid += 1 }
                if positions[entry.cell.id] == nil { positions[entry.cell.id] = (page, slot) }
            }
            next = made.following
            guard next != nil else {
                absence = .feedEnds(pages: page, shown: shown, paid: paid)
                return
            }
        }
        absence = .notAmong(pages: limit)
    }
}
