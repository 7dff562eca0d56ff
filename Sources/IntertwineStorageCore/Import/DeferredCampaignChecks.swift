package import IntertwineFeed

struct DeferredCampaignChecks {
    private struct PendingCampaign {
        var item: ValidatedItem
        var line: Int
        var index: Int?
        var offset: Int
        var file: Int

        func bad(_ field: String, _ reason: String) -> InvalidItem {
            var bad = InvalidItem(line: line, index: index, id: item.id, offset: offset, error: ItemError(field: field, reason: reason))
            bad.file = file
            return bad
        }
    }

    private var campaigns: [PendingCampaign] = []
    private var lines: [String: Int] = [:]

    var isEmpty: Bool { campaigns.isEmpty }

    mutating func check(_ item: ValidatedItem, line: Int, index: Int?, offset: Int, file: Int) -> InvalidItem? {
        let pending = PendingCampaign(item: item, line: line, index: index, offset: offset, file: file)
        if let first = lines[item.id] { return pending.bad("id", "line \(first) already has a campaign with this id") }
        guard campaigns.count < CampaignIndex.limit else { return pending.bad("kind", CampaignIndex.surplus) }
        lines[item.id] = line
        campaigns.append(pending)
        return nil
    }

    func keys(_ kinds: ItemKinds) -> [ItemKey] {
        Array(Set(campaigns.flatMap { [ItemKey($0.item)] + kinds.creatives(of: $0.item).map(\.key) }))
    }

    func checked(_ kinds: ItemKinds, _ found: FoundItems) -> [Result<ValidatedItem, InvalidItem>] {
        var count = found.campaigns
        return campaigns.map { pending in
            let creatives = kinds.creatives(of: pending.item)
            if let creative = creatives.first(where: { found.missing.contains($0.key) }) {
                return .failure(pending.bad(creative.field, creative.reason))
            }
            if let creative = creatives.first(where: { found.houseAds.contains($0.key) }) {
                return .failure(pending.bad(creative.field, CreativeNames.houseAd(creative.name)))
            }
            guard found.missing.contains(ItemKey(pending.item)) else { return .success(pending.item) }
            guard count < CampaignIndex.limit else { return .failure(pending.bad("kind", CampaignIndex.surplus)) }
            count += 1
            return .success(pending.item)
        }
    }
}

extension CreativeNames.Named {
    package var key: ItemKey { ItemKey(kind: item.kind, id: item.id) }
}
