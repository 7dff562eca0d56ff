extension FeedAssembler {
    package enum CellLookup: Sendable {
        case found(FeedPage.Entry)
        case omitted(FeedPage.SkippedItem.Reason)
        case missing
    }

    /// The campaign must run, match the viewer and have capacity left in its goal and caps.
    package func cell(_ id: String, _ request: FeedRequest, for client: PageClient) async throws -> CellLookup {
        let found = try await cell(id, nil, request, for: client)
        let context = FeedContext(viewer: client.viewer?.name, language: request.language)
        guard case .missing = found,
            let item = try await sourceItems.items(ofCells: [ByteString(id)], missingIn: store, factories, for: context).values.first
        else { return found }
        return try await cell(id, item, request, for: client)
    }

    private func cell(
        _ id: String, _ item: FeedItem?, _ request: FeedRequest, for client: PageClient
    ) async throws -> CellLookup {
        guard let name = factories.item(ofCell: id) else { return .missing }
        let version = store.version
        return try await read(for: client) { [self] snapshot, viewerState in
            guard let item = try item ?? snapshot.item(kind: name.kind, id: name.id) else { return .missing }
            var context = context(of: request, for: client)
            var (page, served): (AdServer.Page?, AdServer.ServedAd?)
            if let campaigns, factories.isCampaignAd(item) {
                let campaignIndex = try campaigns.campaignIndex(at: version, in: snapshot, of: store)
                page = campaignIndex.flatMap { self.page(ofCell: id, of: item, request, client.targeting, $0) }
                guard let page, let campaignIndex, let allocated = try campaigns.delivery.choose(page, of: campaignIndex).first ?? nil,
                    allocated.creative == CreativeID(item), let index = campaignIndex.index(of: allocated.campaign)
                else { return .missing }
                context.page = page.targeting.page(page.identity)
                context.disclosure = campaignIndex.campaigns[index].disclosure(in: request.language)
                served = allocated
            }
            let cell = try cell(id, of: item, served, in: context, viewerState)
            if case .found = cell {} else if let page, let served { campaigns?.delivery.withdraw([served], page) }
            return cell
        }
    }

    private func page(
        ofCell id: String, of item: FeedItem, _ request: FeedRequest, _ targeting: TargetingContext?, _ campaignIndex: CampaignIndex
    ) -> AdServer.Page? {
        guard let targeting, campaignIndex.hasActiveCampaigns(feed: title, at: request.now),
            let number = campaignIndex.number(of: CreativeID(item))
        else { return nil }
        return AdServer.Page(
            slots: [AdSlotContext(feed: title, layout: request.layout)],
            identity: UInt32(truncatingIfNeeded: AdDecision.seed("cell\u{0}\(id)")), targeting: targeting, now: request.now, only: number)
    }

    private func cell(
        _ id: String, of item: FeedItem, _ served: AdServer.ServedAd?, in context: CellContext, _ viewerState: ViewerState?
    ) throws -> CellLookup {
        var reader = CellRenderer(factories: factories, cache: cells, context: context, viewerState: nil)
        guard let cell = try reader.cell(of: item) else { return reader.omissions.last.map { .omitted($0.reason) } ?? .missing }
        guard let found = ([cell.rendered] + cell.companions).first(where: { $0.id.utf8.elementsEqual(id.utf8) }) else { return .missing }
        let impressionContext = served.map { served in
            var impressionContext = ImpressionContext(
                campaign: served.campaign, feed: title, layout: context.layout, frequencyCapTTL: served.frequencyCapTTL)
            impressionContext.served = served.at
            return impressionContext
        }
        return .found(
            FeedPage.Entry(
                found, state: try viewerState?.state(of: id, by: found.author) ?? [], position: item.position, in: context,
                campaign: served?.campaign,
                impressionContext: impressionContext))
    }
}
