internal import IntertwinePrimitives

package struct FeedExplanation: Sendable {
    package struct Advertisement: Sendable, Hashable {
        package var form: ItemType
        package var id: String
        package var position: Int64
        package var rank: Int?
        package var page: Int?
        package var slot: Int?
        package var isOnThisPage: Bool
        package var absence: NotShownReason?
    }

    package struct Decision: Sendable, Hashable {
        package var section: String?
        package var campaign: String?
        package var others: [LosingCampaign]

        package struct LosingCampaign: Sendable, Hashable {
            package var campaign: String
            package var obstacle: IneligibilityReason
        }
    }

    package enum NotShownReason: Sendable, Hashable {
        case inCampaigns([String])
        case campaignTakenDown
        case dismissed
        case omitted(FeedPage.SkippedItem.Reason)
        case feedEnds(pages: Int, shown: Int, paid: Int = 0)
        case notAmong(pages: Int)
    }

    package var page: FeedPage
    package var number: Int?
    package var supply: FillPolicy
    package var decisions: [Decision]
    package var takenDown: [CreativeID]
    package var advertisements: [Advertisement]
}

extension FeedAssembler {
    private static let pageLimit = 500
    private static let adLimit = 1_000

    /// `cell`: An ad of campaigns that is explained even if it is not among the first ones.
    package func explain(
        _ request: FeedRequest, for client: PageClient = PageClient(), and cell: String? = nil
    ) async throws -> FeedExplanation {
        let page = try await page(request, for: client)
        let context = context(of: request, for: client)
        let version = store.version
        let cursor = try request.cursor.map { try self.cursor($0, request.filters) }
        // A page of a data source is read again for each page that is simulated.
        let pages = mayWait || ranking != nil ? 1 : Self.pageLimit
        let (found, number, takenDown) = try await withRows(for: request, client) { rows in
            try await read(for: client, purpose: .background) { [self] snapshot, viewerState in
                let walk = try PageSimulation(
                    of: self, request, for: client, to: cursor, at: version, in: snapshot, viewerState, rows, pages: pages)
                var reader = CellRenderer(factories: factories, cache: cells, context: context, viewerState: viewerState)
                var rank = 0
                _ = try campaigns?.campaignIndex(at: version, in: snapshot, of: store)
                var items = try snapshot.items(in: .advertisements, .forward, of: nil, limit: Self.adLimit).filter {
                    $0.kind != Campaign.kind
                }
                if let name = cell.flatMap(factories.item(ofCell:)), let item = try snapshot.item(kind: name.kind, id: name.id),
                    factories.isCampaignAd(item), !items.contains(item)
                {
                    items.append(item)
                }
                let found = try items.map { item in
                    let isPaid = factories.isCampaignAd(item)
                    let omitted = reader.omissions.count
                    let isStopped = campaigns?.isWithheld(CreativeID(item)) ?? false
                    let cell = try reader.cell(of: item)?.rendered.id
                    let place = cell.flatMap { walk.positions[ByteString($0)] }
                    defer { if cell != nil, !isPaid { rank += 1 } }
                    return FeedExplanation.Advertisement(
                        form: item.type, id: item.id, position: item.position,
                        rank: cell == nil || isPaid ? nil : rank, page: place?.page, slot: place?.slot,
                        isOnThisPage: page.entries.contains { $0.adSlot != nil && $0.cell.id == cell },
                        absence: reader.omissions.count > omitted
                            ? reader.omissions.last.map { .omitted($0.reason) }
                            : place != nil
                                ? nil
                                : cell == nil
                                    ? .dismissed
                                    : isStopped && isPaid
                                        ? .campaignTakenDown
                                        : isPaid ? .inCampaigns(campaigns?.names(with: CreativeID(item)) ?? []) : walk.absence)
                }
                let kinds = [Campaign.kind] + factories.kinds(in: .advertisements).sorted()
                let takenDown = try kinds.flatMap { kind in
                    try snapshot.blockedItems(kind: kind, limit: Self.adLimit).map { CreativeID(kind: kind, id: $0.id) }
                }
                return (found, walk.number, takenDown)
            }
        }
        return FeedExplanation(
            page: page, number: number, supply: sections.placement.supply, decisions: try await decisions(of: page), takenDown: takenDown,
            advertisements: found)
    }

    private func decisions(of page: FeedPage) async throws -> [FeedExplanation.Decision] {
        guard let campaigns, let decision = page.decision else { return [] }
        return try await store.read(for: .background) { [self] snapshot in
            guard let campaignIndex = try campaigns.campaignIndex(at: store.version, in: snapshot, of: store) else { return [] }
            let reasons = try campaigns.delivery.explain(decision.page, of: campaignIndex, served: decision.served)
            return zip(zip(decision.page.slots, decision.served), reasons).map { place, reasons in
                FeedExplanation.Decision(
                    section: place.0.section, campaign: place.1?.campaign,
                    others: zip(campaignIndex.campaigns, reasons).compactMap { campaign, obstacle in
                        obstacle.map { .init(campaign: campaign.id, obstacle: $0) }
                    })
            }
        }
    }
}

private struct PageSimulation {
    private(set) var positions: [ByteString: (page: Int, slot: Int)] = [:]
    private(set) var number: Int?
    let absence: FeedExplanation.NotShownReason

    init(
        of feed: FeedAssembler, _ request: FeedRequest, for client: PageClient, to cursor: PageCursor?, at version: StoreVersion,
        in snapshot: any StoreSnapshot, _ viewerState: ViewerState?, _ rows: SourceRows, pages limit: Int
    ) throws {
        var (request, client) = (request, client)
        request.followsChanges = false
        var next: PageCursor?
        var (shown, paid) = (0, 0)
        // Campaigns that the simulated pages so far would serve. They count for the caps and goals of the pages after them.
        var servedCounts: [String: Int] = [:]
        for page in 1...limit {
            if next == cursor { number = page }
            // The explained page does not depend on whether earlier pages were served.
            client.targeting?.assumedServed = next == cursor ? [:] : servedCounts
            let made = try feed.assemble(feed.session(request, for: client, next, at: version, in: snapshot, viewerState, rows))
            if let decision = made.decision, !decision.wasServed {
                for place in decision.served.compactMap(\.self) { servedCounts[place.campaign, default: 0] += 1 }
            }
            for entry in made.entries {
                guard let slot = entry.adSlot else { continue }
                shown += 1
                if entry.campaign != nil { paid += 1 }
                let cell = ByteString(entry.cell.id)
                if positions[cell] == nil { positions[cell] = (page, slot) }
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
