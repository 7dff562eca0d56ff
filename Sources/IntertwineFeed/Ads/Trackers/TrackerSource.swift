package protocol TrackerSource: Sendable {
    func trackers(of events: [LedgerEvent]) async throws -> [Trackers]
}

package struct AdTrackers: TrackerSource {
    private let store: any FeedStore
    private let factories: @Sendable () -> CellFactories

    package init(store: any FeedStore, factories: @escaping @Sendable () -> CellFactories) {
        self.store = store
        self.factories = factories
    }

    package func trackers(of events: [LedgerEvent]) async throws -> [Trackers] {
        let factories = factories()
        let cells = Set(events.map { ByteString($0.cell) })
        let found = try await store.read { snapshot in
            var found: [ByteString: Trackers] = [:]
            for cell in cells {
                guard let name = factories.item(ofCell: cell.text), let item = try snapshot.item(kind: name.kind, id: name.id) else {
                    continue
                }
                found[cell] = (try? ItemFields(item.body)).flatMap { try? Trackers($0) }
            }
            return found
        }
        return events.map { found[ByteString($0.cell)] ?? Trackers() }
    }
}

package struct CampaignTrackers: TrackerSource {
    private let store: any FeedStore
    private let campaigns: @Sendable () -> Campaigns

    package init(store: any FeedStore, campaigns: @escaping @Sendable () -> Campaigns) {
        self.store = store
        self.campaigns = campaigns
    }

    package func trackers(of events: [LedgerEvent]) async throws -> [Trackers] {
        guard events.contains(where: { $0.impressionContext?.campaign != nil }) else { return events.map { _ in Trackers() } }
        let campaignIndex = try await campaigns().campaignIndex(of: store)
        return events.map { event in
            let index = event.impressionContext?.campaign.flatMap { campaignIndex?.index(of: $0) }
            return index.flatMap { campaignIndex?.campaigns[$0].trackers } ?? Trackers()
        }
    }
}
