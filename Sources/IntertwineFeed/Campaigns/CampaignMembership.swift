import Synchronization

/// An advertisement that is, or was, a creative of a campaign: it belongs to the campaign until it is released.
public struct CampaignMembership: Sendable, Hashable {
    /// Of the advertisement.
    public var kind: String
    public var id: String
    public var campaign: String

    public init(kind: String, id: String, campaign: String) {
        (self.kind, self.id, self.campaign) = (kind, id, campaign)
    }

    package var creative: CreativeID { CreativeID(kind: kind, id: id) }
}

/// Remembers which advertisements belong to campaigns. Implemented in Storage and PostgreSQL.
package protocol CampaignMembershipStore: Sendable {
    /// Adds memberships; those that are known stay as they are.
    ///
    /// - Throws: ``StoreError/unavailable(_:)``
    func remember(_ memberships: [CampaignMembership]) async throws
}

extension Campaigns {
    /// Writes the memberships of the last look that the store does not have yet. Nothing is written where there are none, or no store keeps them.
    ///
    /// - Throws: ``StoreError``. They are then tried again after the next look.
    package func remember() async throws {
        guard let memberships else { return }
        let new = unwritten.withLock { Array($0) }
        guard !new.isEmpty else { return }
        try await memberships.remember(new)
        unwritten.withLock { $0.subtract(new) }
    }

    /// All memberships: those that the store has, and those of the campaigns that it does not have yet, which are written soon.
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
