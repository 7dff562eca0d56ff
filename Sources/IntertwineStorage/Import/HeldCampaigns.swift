import IntertwineFeed

/// The campaigns of an import, which are written last, when it is known whether their advertisements are there.
struct HeldCampaigns {
    private struct Held {
        var item: ValidItem
        var line: Int
        var index: Int?
        var offset: Int
        var file: Int

        func bad(_ field: String, _ reason: String) -> BadItem {
            var bad = BadItem(line: line, index: index, id: item.id, offset: offset, fault: ItemFault(field: field, reason: reason))
            bad.file = file
            return bad
        }
    }

    private var campaigns: [Held] = []
    /// The line of each, by its id.
    private var lines: [String: Int] = [:]

    var isEmpty: Bool { campaigns.isEmpty }

    /// - Returns: what is wrong with it as one of several, which it is not then.
    mutating func hold(_ item: ValidItem, line: Int, index: Int?, offset: Int, file: Int) -> BadItem? {
        let held = Held(item: item, line: line, index: index, offset: offset, file: file)
        if let first = lines[item.id] { return held.bad("id", "a campaign of this id stands on line \(first) already") }
        guard campaigns.count < CampaignBook.limit else { return held.bad("klass", CampaignBook.surplus) }
        lines[item.id] = line
        campaigns.append(held)
        return nil
    }

    /// Themselves, and the advertisements that they name.
    func keys(_ kinds: ItemKinds) -> [ItemKey] {
        Array(Set(campaigns.flatMap { [ItemKey($0.item)] + kinds.creatives(of: $0.item).map(\.key) }))
    }

    /// Each of them, or why it cannot be taken.
    func checked(_ kinds: ItemKinds, _ found: FoundItems) -> [Result<ValidItem, BadItem>] {
        var count = found.campaigns
        return campaigns.map { held in
            if let creative = kinds.creatives(of: held.item).first(where: { found.missing.contains($0.key) }) {
                return .failure(held.bad(creative.field, creative.reason))
            }
            guard found.missing.contains(ItemKey(held.item)) else { return .success(held.item) }
            guard count < CampaignBook.limit else { return .failure(held.bad("klass", CampaignBook.surplus)) }
            count += 1
            return .success(held.item)
        }
    }
}

extension CreativeNames.Named {
    package var key: ItemKey { ItemKey(kind: item.kind, id: item.id) }
}
