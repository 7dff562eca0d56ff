import Synchronization

extension Campaigns {
    package func remember() async throws {
        guard let memberships else { return }
        let new = unwritten.withLock { Array($0) }
        guard !new.isEmpty else { return }
        try await memberships.remember(new)
        unwritten.withLock { $0.subtract(new) }
    }

    func all(_ stored: [CampaignMembership], and campaigns: [Campaign]) -> Set<CampaignMembership> {
        let stored = Set(stored)
        guard memberships != nil else { return stored }
        let current = Set(
            campaigns.flatMap { campaign in
                campaign.creatives.map { name in
                    let creative = item(of: name)
                    return CampaignMembership(kind: creative.kind, id: creative.id, campaign: campaign.id)
                }
            })
        return unwritten.withLock { unwritten in
            unwritten.formUnion(current.subtracting(stored))
            return stored.union(unwritten)
        }
    }
}
