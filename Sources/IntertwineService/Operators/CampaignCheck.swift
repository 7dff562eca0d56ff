internal import IntertwineFeed
internal import IntertwineStorage

/// The advertisements of a campaign must be in the store, be written with it, or be taken down (they may come back), and must not be house
/// ads. The number of campaigns must not exceed its limit.
struct CampaignCheck: Sendable {
    let store: any ItemStore
    let kinds: ItemKinds

    func error(of items: [ValidatedItem]) async throws -> (number: Int, error: ItemError)? {
        let campaigns = items.enumerated().filter { $0.element.kind == Campaign.kind }
        guard !campaigns.isEmpty else { return nil }
        let written = Dictionary(items.map { (ItemKey($0), $0.isHouseAd) }) { $1 }
        for (number, item) in campaigns {
            for creative in kinds.creatives(of: item) {
                let key = creative.key
                var isHouseAd = written[key]
                if isHouseAd == nil { isHouseAd = try await store.read { try $0.storedItem(kind: key.kind, id: key.id)?.isHouseAd } }
                if isHouseAd == nil, try await store.takedown(of: key) != nil { continue }
                guard isHouseAd != false else { continue }
                let reason = isHouseAd == nil ? creative.reason : CreativeNames.houseAd(creative.name)
                return (number, ItemError(field: creative.field, reason: reason, code: .conflict))
            }
        }
        guard let id = try await surplus(Set(campaigns.map(\.element.id))) else { return nil }
        return campaigns.first { $0.element.id == id }.map { ($0.offset, ItemError(reason: CampaignIndex.surplus, code: .conflict)) }
    }

    private func surplus(_ ids: Set<String>) async throws -> String? {
        try await store.read { snapshot in
            let new = try ids.filter { try snapshot.storedItem(kind: Campaign.kind, id: $0) == nil }.sorted()
            guard !new.isEmpty else { return nil }
            var count = 0
            let stored = RowQuery(.type(ItemType(kind: Campaign.kind, variant: "")), limit: CampaignIndex.limit)
            try snapshot.visit(stored) { _ in count += 1 }
            let room = max(0, CampaignIndex.limit - count)
            return new.count > room ? new[room] : nil
        }
    }
}
