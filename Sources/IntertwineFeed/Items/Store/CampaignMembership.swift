package struct CampaignMembership: Sendable, Hashable {
    package var kind: String
    package var id: String
    package var campaign: String

    package init(kind: String, id: String, campaign: String) {
        (self.kind, self.id, self.campaign) = (kind, id, campaign)
    }

    package var creative: CreativeID { CreativeID(kind: kind, id: id) }
}

/// Storage and PostgreSQL implement it.
package protocol CampaignMembershipStore: Sendable {
    func remember(_ memberships: [CampaignMembership]) async throws
}
